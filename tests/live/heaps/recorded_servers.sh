#!/bin/sh
# Servers with several threads, as tests/live/heaps/recorded_programs.sh.
set -u
. tests/support/recorder/recorded_checks.sh

cat >"$work/cache.pl" <<'END'
use strict;
use IO::Socket::UNIX;
my ($sum, @all) = (0);
for my $round (1 .. 8) {
	@all = map { IO::Socket::UNIX->new(Peer => $ARGV[0]) or die } 1 .. 40;
	for my $i (0 .. $#all) {
		my ($s, $length) = ($all[$i], 10 + 37 * $i * $round);
		print $s "set key$i 0 0 $length\r\n", "x" x $length, "\r\n";
		<$s> eq "STORED\r\n" or die;
		print $s "get ", join(" ", map { "key$_" } 0 .. $i), "\r\n";
		while ((my $line = <$s>) ne "END\r\n") {
			$sum += length $line;
		}
		print $s "delete key$i\r\n" and <$s> if $i % 7 == 0;
	}
}
print "$sum\n";
END
if has memcached && has perl; then
	serve "memcached -t 4" 5 60 "$work/cache.pl" \
	    memcached -t 4 -s "$work/socket" -u root -m 64
fi

cat >"$work/web.pl" <<'END'
use strict;
use IO::Socket::UNIX;
my $sum = 0;
for my $round (1 .. 60) {
	for my $path ("/", "/large", "/missing", "/list/", "/included.html") {
		my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die;
		print $s "GET $path HTTP/1.0\r\nAccept-Encoding: " .
		    ($round % 2 ? "gzip" : "none") . "\r\n\r\n";
		my $answer = join "", <$s>;
		$answer =~ s/^Date:.*\r\n//m;
		$answer =~ s/^Last-Modified:.*\r\n//m;
		$answer =~ s/^ETag:.*\r\n//m;
		$sum += length $answer;
	}
}
print "$sum\n";
END
nginx=$(PATH=$PATH:/usr/sbin command -v nginx)
if [ -n "$nginx" ] && has perl; then
	mkdir -p "$work/web/list" "$work/web/logs"
	chmod 755 "$work/web" "$work/web/list"
	seq 1 1000 >"$work/web/index.html"
	seq 1 60000 >"$work/web/large"
	seq 1 10 | while read -r i; do : >"$work/web/list/file$i"; done
	echo 'a <!--#include virtual="/" --> b' >"$work/web/included.html"
	cat >"$work/nginx.conf" <<END
daemon off;
user root;
worker_processes 2;
pid $work/nginx.pid;
error_log $work/web/logs/error.log;
thread_pool files threads=4;
events { worker_connections 64; }
http {
	access_log off;
	default_type text/html;
	client_body_temp_path $work/web/logs/1;
	proxy_temp_path $work/web/logs/2;
	fastcgi_temp_path $work/web/logs/3;
	uwsgi_temp_path $work/web/logs/4;
	scgi_temp_path $work/web/logs/5;
	server {
		listen unix:$work/socket;
		root $work/web;
		gzip on;
		ssi on;
		autoindex on;
		autoindex_exact_size off;
		aio threads=files;
	}
}
END
	serve nginx 5 200 "$work/web.pl" "$nginx" -p "$work/web" \
	    -c "$work/nginx.conf"
else
	echo "SKIPPED: no nginx"
fi

conclude

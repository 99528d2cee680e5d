#!/bin/sh
# More programs that know nothing of the library: nginx (a worker that has
# served), memcached, git, gdb and perl. Each is asked at one point of its run,
# under the library and under Valgrind, with the recorder of the corpus before
# both: so a lost block has a name, its size and who allocated it, and what the
# library finds lost must be among what Valgrind finds. redis brings jemalloc,
# and has to be refused by that name.
set -u
. tests/support/script_setup.sh
library=${LIBRARY:-$build/libmemunreachable.so}
shim=$build/tests/corpus/preload.so
quicken_valgrind

# The command under a tool. With exec in a subshell, $! is the program's.
under() {
	tool=$1
	shift
	CORPUS_TOOL=$tool CORPUS_PROGRAM=$name CORPUS_OUTPUT=$work/$tool.out
	export CORPUS_TOOL CORPUS_PROGRAM CORPUS_OUTPUT
	# shellcheck disable=SC3045 # every sh of ours has it
	[ "$name" != memcached ] || ulimit -n 300
	case $tool in
	ours)
		exec env LD_PRELOAD="$shim $library" "$@"
		;;
	valgrind)
		exec env LD_PRELOAD="$shim" valgrind \
		    --log-file="$work/valgrind.log.%p" \
		    --leak-check=no --num-callers=2 --trace-children=no \
		    --vgdb-prefix="$work/vgdb" \
		    --soname-synonyms=somalloc=nouserintercepts \
		    "$@"
		;;
	esac
}

# perl(1), over a socket: send words, print what comes back until a pattern.
cat >"$work/talk.pl" <<'END_OF_TALK'
use IO::Socket::UNIX;
my ($path, $words, $until) = @ARGV;
my $socket = IO::Socket::UNIX->new(Peer => $path) or exit 1;
$words =~ s/~/\r\n/g;
print $socket $words;
alarm 20;
while (<$socket>) {
	print;
	last if /$until/;
}
END_OF_TALK

talk() {
	perl "$work/talk.pl" "$work/$name.socket" "$@" >>"$work/$name.talk" ||
		fail "does not answer under $tool"
}

has_socket() {
	[ -S "$work/$name.socket" ] || ! kill -0 "$pid" 2>/dev/null
}

has_said_ready() {
	grep -q '^ready' "$work/$name.said" || ! kill -0 "$pid" 2>/dev/null
}

has_ended_answer() {
	grep -q '^end' "$work/$tool.out.$1" 2>/dev/null
}

# Ask process $1, and put away what was answered.
take_answer() {
	[ "$2" = at-exit ] || kill -s RTMIN+6 "$1"
	await has_ended_answer "$1" || {
		fail "no answer under $tool"
		tail -n 20 "$work/$name.errors"
		return 1
	}
	mv "$work/$tool.out.$1" "$work/$name.$tool.out"
	: >"$work/$name.$tool.log"
	[ "$tool" = ours ] ||
		mv "$work/valgrind.log.$1" "$work/$name.$tool.log"
}

# The process that serves: nginx's worker, else the program itself.
server() {
	case $name in
	nginx) ps -o pid= --ppid "$pid" | tr -d ' ' ;;
	*) echo "$pid" ;;
	esac
}

# A server: started, used by the function $1, asked, ended.
run_server() {
	use=$1
	shift
	rm -f "$work/$name.socket"
	(under "$tool" "$@") >/dev/null 2>"$work/$name.errors" </dev/null &
	pid=$!
	pids="$pids $pid"
	await has_socket
	$use
	take_answer "$(server)" now
	kill "$pid"
	wait "$pid"
}

# A program that says ready on its standard output and reads a line.
run_until_ready() {
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/$name.said"
	(under "$tool" "$@") <"$work/in" >"$work/$name.said" \
	    2>"$work/$name.errors" &
	pid=$!
	pids="$pids $pid"
	exec 9>"$work/in"
	await has_said_ready
	take_answer "$pid" now
	echo go >&9
	exec 9>&-
	wait "$pid" || fail "ended with status $? under $tool"
}

# A program that is asked when it ends.
run_to_end() {
	(CORPUS_AT_EXIT=1 && export CORPUS_AT_EXIT && under "$tool" "$@") \
	    </dev/null >"$work/$name.said" 2>"$work/$name.errors" &
	pid=$!
	pids="$pids $pid"
	wait "$pid" || fail "ended with status $? under $tool"
	take_answer "$pid" at-exit
}

# TITLE PROGRAM, how to run, and its words
check() {
	title=$1 name=$2
	shift 2
	command -v "$name" >/dev/null || {
		echo "SKIPPED: no $name"
		return
	}
	for tool in ours valgrind; do
		"$@"
	done
	awk -v title="$title" -f tests/corpus/compare.awk \
	    "$work/$name.ours.out" "$work/$name.valgrind.out" \
	    "$work/$name.valgrind.log" ||
		fail "lost blocks that Valgrind does not find lost"
}

if ! command -v valgrind >/dev/null ||
	! echo '#include <valgrind/memcheck.h>' |
	${CC:-cc} -E - >/dev/null 2>&1; then
	echo "SKIPPED: no Valgrind, or no valgrind/memcheck.h"
	exit 77
fi
if ! command -v perl >/dev/null; then
	echo "SKIPPED: no perl, which is the client, too"
	exit 77
fi

cat >"$work/nginx.conf" <<END_OF_CONF
daemon off;
user root;
worker_processes 1;
error_log $work/nginx.log;
pid $work/nginx.pid;
events { worker_connections 64; }
http {
	access_log $work/access.log;
	client_body_temp_path $work/body;
	proxy_temp_path $work/proxy;
	fastcgi_temp_path $work/fastcgi;
	uwsgi_temp_path $work/uwsgi;
	scgi_temp_path $work/scgi;
	gzip on;
	gzip_types *;
	server {
		listen unix:$work/nginx.socket;
		root $work;
		location /hello { return 200 "hello\n"; }
		location /proxy { proxy_pass http://unix:$work/nginx.socket:/; }
	}
}
END_OF_CONF
use_nginx() {
	for path in nginx.conf hello missing talk.pl proxy/hello; do
		talk "GET /$path HTTP/1.1~Host: a~Accept-Encoding: gzip~Connection: close~~" '^no such line'
	done
	talk "POST /hello HTTP/1.0~Content-Length: 5~~12345" hello
}

use_memcached() {
	talk "set one 0 0 5~hello~get one~delete one~" DELETED
	talk "set two 0 0 3~two~append two 0 0 3~333~gets two~incr two 1~stats slabs~" END
	talk "stats items~stats~" STAT.threads
}

cat >"$work/work.pl" <<'END_OF_PERL'
use strict;
use List::Util qw(sum);
use Data::Dumper;
my (%count, @lines, $self);
for my $i (1 .. 3000) {
	push @lines, sprintf("line %d of %s", $i, "x" x ($i % 50));
	$count{$1}++ if $lines[-1] =~ /(x+)$/;
}
my $text = Dumper(\%count);
$self = { name => "a cycle, never freed", me => undef };
$self->{me} = $self;
undef $self;
my $closure = sub { return sum(map { length } @_) };
my $sum = $closure->(sort { $b cmp $a } @lines);
eval "sub made { return \$_[0] . '$sum' }";
$| = 1;
print "ready ", made("it is "), " ", length($text), "\n";
my $line = <STDIN>;
print "got $line";
END_OF_PERL

make_repository() {
	git -C "$work" init -q repository || return
	(
		cd "$work/repository" || exit
		for i in 1 2 3 4 5; do
			echo "line $i" >>file
			echo "$i" >"file$i"
			git add .
			git -c user.name=a -c user.email=a@b commit -q -m "$i"
		done
		echo changed >>file
		rm file2
		echo new >file6
	) >/dev/null
}
HOME=$work
GIT_CONFIG_NOSYSTEM=1
export HOME GIT_CONFIG_NOSYSTEM

check nginx nginx run_server use_nginx nginx -c "$work/nginx.conf"
# It asks for as many files as connections, and Valgrind grants that only if it
# is what it has.
# shellcheck disable=SC3045
files=$(ulimit -n 300 && valgrind -q sh -c 'ulimit -H -n')
check memcached memcached run_server use_memcached \
    memcached -u root -c "$files" -t 2 -m 16 -s "$work/memcached.socket"
check perl perl run_until_ready perl "$work/work.pl"
if command -v git >/dev/null && make_repository; then
	check 'git log' git run_to_end git -C "$work/repository" log -p --stat
	check 'git status' git run_to_end git -C "$work/repository" status
	check 'git diff' git run_to_end git -C "$work/repository" diff HEAD~3
else
	echo "SKIPPED: no git"
fi
check gdb gdb run_until_ready gdb -nx -q -batch \
    -ex "file $build/tests/corpus/tree" -ex 'info functions scenario' \
    -ex 'list corpus_scenario' -ex 'info types node' \
    -ex 'disassemble main' -ex 'ptype struct node' \
    -ex 'shell echo ready; read line'

# Another malloc: no answer, and why.
name=redis-server
if command -v redis-server >/dev/null && ldd "$(command -v redis-server)" |
	grep -q jemalloc; then
	LD_PRELOAD=$library MEMUNREACHABLE_OPTIONS="${given}at_exit=1" \
	    redis-server --version >"$work/said" 2>"$work/errors"
	grep -q 'jemalloc' "$work/errors" || fail "jemalloc is not named"
	if grep -q 'allocations unreachable out of' "$work/errors"; then
		fail "an answer all the same"
	fi
	echo "| redis | | refused | | $(grep -m 1 -o '[^:]*jemalloc.*' \
	    "$work/errors") |"
else
	echo "SKIPPED: no redis-server with jemalloc"
fi
[ $failures -eq 0 ]

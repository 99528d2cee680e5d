#!/bin/sh
# Real programs under load, checked by -p; each block that is reported is judged
# by a search of all memory of the process (support/judge.c): aligned, unaligned,
# as a distance from its own place, and in code in 32 bits. A place outside of
# lost blocks and free chunks is a reason to look: it may be a false entry, or be
# dead itself (a block in a fastbin, a stack below its pointer, an ended thread).
#
# Usage: field.sh [PROGRAM...]
#   (java-zgc java-g1 erlang node qemu mousepad soffice php-fpm)
# Environment: BUILD (build), FIELD_LOOKS (3), FIELD_OPTIONS (of memunreachable)
#
# A line for each look: program, MiB in memory, status, milliseconds stopped,
# blocks and entries reported, entries with such a place. A program that is not
# installed is skipped. Answers and places stay in $BUILD/field. Exit status 1:
# a complete answer had such an entry, or a stop was longer than its budget.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/support/script_setup.sh
. tests/support/script_setup.sh
command=$build/memunreachable
looks=${FIELD_LOOKS:-3}
logs=$build/field
judge=$logs/judge
mkdir -p "$logs" || exit 1
${CC:-cc} -O2 -o "$judge" tests/support/judge.c || exit 1

skip() {
	echo "SKIPPED: $1: $2"
}

# What is started here ends with the script; what a program forks, by its group.
start() {
	setsid "$@" >"$logs/$name.out" 2>&1 &
	leader=$!
	pids="$pids -$leader"
}

stop_all() {
	for pid in $pids; do
		kill -9 "$pid" 2>/dev/null
	done
	pids=
	wait 2>/dev/null
}

# JSON on standard input: "status pause leaks entries", then the blocks.
fields='
import json, sys
d = json.load(sys.stdin)
print(d["status"], round(d["pause_ns"] / 1e6), d["num_leaks"], d["num_entries"])
for leak in d["leaks"]:
    print(leak["address"], leak["size"])
'

# look PID NUMBER: the process stands still while it is judged.
look() {
	file=$logs/$name.$2
	# shellcheck disable=SC2086 # words
	"$command" -q --by=block --limit=20000 --format=json \
	    ${FIELD_OPTIONS:-} -p "$1" >"$file.json" 2>"$file.err"
	kill -STOP "$1"
	python3 -c "$fields" <"$file.json" >"$file.blocks"
	sed 1d "$file.blocks" | "$judge" "$1" >"$file.places"
	kill -CONT "$1"
	read -r status pause leaks entries <"$file.blocks" || {
		fail "look $2: $(cat "$file.err")"
		return
	}
	places=$(grep -v ', in a free chunk$' "$file.places" | cut -d' ' -f1 |
		sort -u | wc -l)
	size=$(($(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' \
	    "/proc/$1/status") / 1024))
	echo "$name ($size MiB): $status, $pause ms, $leaks blocks," \
	    "$entries entries, $places with a place"
	[ "$status" != complete ] || [ "$places" -eq 0 ] ||
		fail "look $2: see $file.places"
	[ "$pause" -le 200 ] || fail "look $2: stopped for $pause ms"
}

# looks PID: at a program that has warmed up.
look_at() {
	sleep 8
	number=1
	while [ $number -le "$looks" ]; do
		look "$1" $number
		number=$((number + 1))
		sleep 1
	done
	stop_all
}

write_java() {
	cat >"$work/Load.java" <<'EOF'
import java.util.*;
import java.util.concurrent.*;

public class Load {
    static final Map<Integer, byte[]> kept = new ConcurrentHashMap<>();

    static void work(int seed) {
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder();
        for (long i = 0; ; i++) {
            kept.put(random.nextInt(20000), new byte[random.nextInt(20000)]);
            text.append(i);
            if (text.length() > 100000)
                text.setLength(0);
            if (i % 1000 == 0)
                new ArrayList<>(kept.keySet()).sort(Comparator.reverseOrder());
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 4; i++) {
            int seed = i;
            new Thread(() -> work(seed)).start();
        }
    }
}
EOF
	javac -d "$work" "$work/Load.java"
}

java_with() {
	command -v javac >/dev/null || {
		skip "$name" "no javac"
		return
	}
	write_java
	start java "$@" -Xmx1g -cp "$work" Load
	look_at "$leader"
}

write_erlang() {
	cat >"$work/load.erl" <<'EOF'
-module(load).
-export([main/0, work/1]).
main() ->
    ets:new(t, [named_table, public]),
    [spawn(load, work, [N]) || N <- lists:seq(1, 50)],
    receive never -> ok end.
work(N) ->
    L = lists:sort([rand:uniform(1000000) || _ <- lists:seq(1, 2000)]),
    ets:insert(t, {N, L, term_to_binary(L)}),
    work(N).
EOF
	(cd "$work" && erlc load.erl)
}

erlang() {
	command -v erlc >/dev/null || {
		skip erlang "no erlc"
		return
	}
	write_erlang
	start erl -noshell -noinput -pa "$work" -s load main
	sleep 1
	look_at "$(pgrep -g "$leader" beam)"
}

write_node() {
	cat >"$work/load.js" <<'EOF'
const kept = new Map();
let count = 0;
function work() {
	for (let i = 0; i < 2000; i++) {
		const key = Math.floor(Math.random() * 50000);
		kept.set(key, { key, list: new Array(200).fill(key),
		    bytes: Buffer.alloc(1 + key % 9000), text: 'x'.repeat(key % 3000) });
		count++;
	}
	JSON.parse(JSON.stringify([...kept.keys()]));
	setImmediate(work);
}
work();
EOF
}

node_busy() {
	command -v node >/dev/null || {
		skip node "not installed"
		return
	}
	write_node
	start node --max-old-space-size=1500 "$work/load.js"
	look_at "$leader"
}

# A guest that boots, without a disk: its firmware polls.
qemu() {
	command -v qemu-system-x86_64 >/dev/null || {
		skip qemu "not installed"
		return
	}
	start qemu-system-x86_64 -m 2G -mem-prealloc -display none -net none
	look_at "$leader"
}

# with_display COMMAND...: LEADER is the group of all.
with_display() {
	start dbus-run-session -- xvfb-run -a "$@"
	sleep 6
}

mousepad() {
	for needed in mousepad xvfb-run dbus-run-session; do
		command -v $needed >/dev/null || {
			skip mousepad "no $needed"
			return
		}
	done
	with_display mousepad README.md
	look_at "$(pgrep -n -g "$leader" -x mousepad)"
}

soffice() {
	command -v soffice >/dev/null || {
		skip soffice "not installed"
		return
	}
	start soffice --headless --norestore "-env:UserInstallation=file://$work/office" \
	    --accept="pipe,name=field;urp;"
	sleep 8
	look_at "$(pgrep -n -g "$leader" soffice.bin)"
}

write_php() {
	cat >"$work/load.php" <<'EOF'
<?php
$kept = [];
for ($i = 0; $i < 3000; $i++)
	$kept[md5((string)$i)] = str_repeat('x', $i % 500) . getenv('PATH');
ksort($kept);
echo strlen(json_encode($kept)), "\n";
EOF
	cat >"$work/fpm.conf" <<EOF
[global]
error_log = $work/fpm.log
daemonize = no
[www]
user = nobody
listen = $work/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 2
env[PATH] = /usr/bin:/bin
EOF
}

ask_php() {
	while :; do
		SCRIPT_FILENAME=$work/load.php SCRIPT_NAME=/load.php \
		    REQUEST_METHOD=GET QUERY_STRING='' \
		    cgi-fcgi -bind -connect "$work/fpm.sock"
	done >/dev/null 2>&1
}

php_fpm() {
	server=$(command -v php-fpm8.2 php-fpm8.4 php-fpm | head -1)
	if [ -z "$server" ] || ! command -v cgi-fcgi >/dev/null; then
		skip php-fpm "no php-fpm, or no cgi-fcgi"
		return
	fi
	write_php
	start "$server" -R -F -y "$work/fpm.conf"
	sleep 1
	ask_php &
	pids="$pids $!"
	sleep 2
	look_at "$(pgrep -P "$leader" | head -1)"
}

[ $# -gt 0 ] || set -- java-zgc java-g1 erlang node qemu mousepad soffice php-fpm
for name in "$@"; do
	case $name in
	java-zgc) java_with -XX:+UseZGC ;;
	java-g1) java_with -XX:+UseG1GC ;;
	erlang) erlang ;;
	node) node_busy ;;
	qemu) qemu ;;
	mousepad) mousepad ;;
	soffice) soffice ;;
	php-fpm) php_fpm ;;
	*)
		echo "$name is not known"
		exit 2
		;;
	esac
done
[ "$failures" -eq 0 ]

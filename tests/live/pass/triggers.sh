#!/bin/sh
# The library preloaded into a program that was built without it: a report by
# signal, at the end of the program, and without options no effect: no thread,
# no handler, no open file, no mapping but its segments.
set -u
. tests/support/script_setup.sh
library=$build/libmemunreachable.so
victim=$build/tests/live/victims/victim_plain

expect() {
	[ "$2" = "$3" ] || fail "$1: \"$2\", expected \"$3\""
}

lines() {
	grep -c "$1" "$work/err"
}

is_ready() {
	grep -q ready "$work/out" || ! kill -0 "$pid" 2>/dev/null
}

has_reported() {
	[ "$(lines '  24 bytes unreachable at ')" -ge "$1" ] ||
		! kill -0 "$pid" 2>/dev/null
}

preloaded() {
	options=$1
	shift
	env LD_PRELOAD="$library" MEMUNREACHABLE_OPTIONS="$given$options" "$@"
}

name=victim
if readelf -d "$victim" 2>/dev/null | grep -q 'NEEDED.*memunreachable'; then
	fail "linked with the library; it must not be"
fi

# Only the kernel has the address of an alternate signal stack.
for way in dlsym syscall; do
	name="alternate stacks by $way"
	preloaded at_exit=1 "$build/tests/live/victims/victim_alternate" $way \
		</dev/null >"$work/out" 2>"$work/err"
	expect "$name: status" $? 23
	expect "$name" "$(lines '^libmemunreachable: 40 bytes in 1 alloc')" 1
done

# Leaks change the status, and only they.
name='at exit'
preloaded at_exit=1 "$victim" 0 </dev/null >"$work/out" 2>"$work/err"
expect "status with a leak" $? 23
expect "last words" "$(tail -n 1 "$work/out")" "the end"
expect "leaks" "$(lines ' 24 bytes in 1 allocation unreachable')" 1
preloaded at_exit=1:exitcode=99 "$victim" 4 </dev/null >/dev/null 2>&1
expect "status with exitcode" $? 99
preloaded at_exit=1 "$victim" 4 clean </dev/null >/dev/null 2>"$work/err"
expect "own status without a leak" $? 4
expect "no leaks" "$(lines ' 0 bytes in 0 allocations unreachable')" 1
preloaded '' "$victim" 4 </dev/null >/dev/null 2>"$work/err"
expect "own status without an option" $? 4
expect "words without an option" "$(cat "$work/err")" ""

name='by signal'
: >"$work/out"
: >"$work/err"
mkfifo "$work/in"
# No function here: it would be a subshell, and $! that one's.
env LD_PRELOAD="$library" MEMUNREACHABLE_OPTIONS="${given}signal=RTMIN+5:min_interval=0" \
    "$victim" 6 <"$work/in" >"$work/out" 2>"$work/err" &
pid=$!
pids=$pid
exec 9>"$work/in"
await is_ready || fail "not ready"
for i in 1 2 3; do
	kill -s RTMIN+5 "$pid"
	if ! await has_reported $i || ! kill -0 "$pid"; then
		fail "no report $i"
		break
	fi
	echo "line $i" >&9
done
exec 9>&-
wait "$pid"
expect "status after signals" $? 6
pids=
expect "reports" "$(lines ' 24 bytes in 1 allocation unreachable')" 3
expect "their numbers and times" "$(sed -n \
    's/.*: report \([0-9]*\), at 20[0-9-]\{8\}T[0-9:]\{8\}Z:$/\1/p' \
    "$work/err" | tr '\n' ' ')" '1 2 3 '
expect "lines served" "$(grep -c '^served line' "$work/out")" 3

# exit() waits for the report that runs and for the one that was asked for.
name='signals before the end'
limit=$(($(date +%s) + 60))
preloaded signal=RTMIN+5:min_interval=1h python3 -c '
import os, signal, time
number = signal.SIGRTMIN + 5
os.kill(os.getpid(), number)
while open("/proc/self/task/%d/comm" % max(map(int, os.listdir(
        "/proc/self/task")))).read() != "mu-watch\n":
    time.sleep(0.001)
os.kill(os.getpid(), number)
print("the end")
' >"$work/out" 2>"$work/err" || fail "status $?"
expect "last words" "$(cat "$work/out")" "the end"
expect "reports" "$(lines ' unreachable out of ')" 2
[ "$(date +%s)" -lt "$limit" ] || fail "waited for the interval"

# What it costs: /proc/self of cat, with and without.
name=idle
look() {
	"$@" cat /proc/self/status | grep -E \
	    '^(Threads|Sig(Blk|Ign|Cgt)|ShdPnd|FDSize|NoNewPrivs|TracerPid)' \
	    >"$work/status"
	"$@" ls /proc/self/fd | wc -l >"$work/fds"
	# All but its own segments.
	"$@" cat /proc/self/maps | grep -vE 'libmemunreachable|libm[.-]' |
		awk '{ print $2, $6 }' | sort >"$work/maps"
	cat "$work/status" "$work/fds" "$work/maps"
}

# A library more costs a page of the loader's, too: compare with one of libc's.
look env LD_PRELOAD=libm.so.6 >"$work/without"
look env LD_PRELOAD="$library" >"$work/with"
# What of its .bss does not fit into the last page of .data has no name.
if diff "$work/without" "$work/with" >"$work/diff" ||
	[ "$(grep '^[<>]' "$work/diff" | tr -d '<>')" = " rw-p " ]; then
	:
else
	cat "$work/diff"
	fail "the library shows (< without, > with)"
fi

[ $failures -eq 0 ]

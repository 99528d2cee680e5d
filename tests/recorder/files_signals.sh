#!/bin/sh
# Signals in idle processes, and the files that they have written.
set -u
. tests/support/script_setup.sh
program=$build/tests/recorder/files_program

# start OPTIONS MODE: $pid, and the first line of its output in $line.
start() {
	rm -f "$work/line"
	TMPDIR=$work LIBC_DEBUG_MALLOC_OPTIONS=$1 LD_PRELOAD=$recorder \
	    "$program" "$2" >"$work/line" 2>"$work/err" &
	pid=$!
	pids="$pids $pid"
	await test -s "$work/line"
	line=$(cat "$work/line")
}

stop() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# How many of the program's records there are in FILE, 3 blocks each.
records() {
	grep -c '^z 1  sz     4242  num    3  bt [0-9a-f]* [0-9a-f]* ' "$1"
}

start backtrace idle
kill -47 "$pid"
file=$work/backtrace_heap.$pid.txt
if await test -e "$file"; then
	[ "$(records "$file")" -eq 2 ] || fail idle_process: records
	[ "$(head -n 1 "$file")" = "Android Native Heap Dump v1.2" ] ||
	    fail head
	grep -q '^Backtrace size: 16$' "$file" || fail size
	grep -q '^END$' "$file" || fail end
	grep -q '^# module .*files_program$' "$file" || fail module
	[ "$(cat "$work/err")" = "malloc_debug: Dumping to file: $file" ] ||
	    fail line
	# Again, and over the old one.
	rm "$file"
	kill -47 "$pid"
	await test -e "$file" || fail again
	set -- "/proc/$pid/task"/*
	[ $# -eq 1 ] || fail one_thread_again
else
	fail idle_process
fi
stop

start "bt=20 bt_full bt_dmp_pre=$work/full" idle
kill -47 "$pid"
if await test -e "$work/full.$pid.txt"; then
	[ "$(records "$work/full.$pid.txt")" -eq 2 ] || fail full
	grep -A 1 '^z 1  sz     4242 ' "$work/full.$pid.txt" |
	    grep -q '^  bt_info {".*/files_program" [0-9a-f]* "[^"]*" [0-9a-f]*} {' ||
	    fail bt_info
	grep -q '^  bt_info .*{".*/libc[^"]*" [0-9a-f]* "[^"]*libc_start[^"]*" [0-9a-f]*}' \
	    "$work/full.$pid.txt" || fail function
else
	fail full_of_an_idle_process
fi
stop

# Off until the signal: what was allocated before is not captured.
start bt_en_on_sig idle
kill -45 "$pid"
kill -47 "$pid"
file=$work/backtrace_heap.$pid.txt
if await test -e "$file"; then
	grep -q '^z 1  sz     4242  num    6  bt$' "$file" ||
	    fail capturing_was_off
else
	fail toggle
fi
stop

start "record_allocs=1000 verbose" idle
kill -46 "$pid"
if await test -e "$work/record_allocs.txt"; then
	[ "$(grep -c "^$pid: malloc 0x[0-9a-f]* 4242 [0-9]* [0-9]*\$" \
	    "$work/record_allocs.txt")" -eq 6 ] || fail idle
	grep -q "files_program: Run: 'kill -46 $pid' to dump the allocation records.\$" \
	    "$work/err" || fail md23
else
	fail idle_process
fi
stop

start log_allocator_stats_on_signal idle
kill -49 "$pid"
n=0
while ! grep -q 'max mmap bytes' "$work/err" && [ $n -lt 100 ]; do
	sleep 0.05
	n=$((n + 1))
done
grep -q '^in use bytes' "$work/err" || fail stats_on_signal
stop

# Another process than the one that was started.
start bt fork
kill -47 "$line"
file=$work/backtrace_heap.$line.txt
if await test -e "$file"; then
	[ "$(grep -c '^z 0  sz     4242  num    3  bt ' "$file")" -eq 2 ] ||
	    fail inherited
	grep -q '^z 1  sz     5555  num    1  bt ' "$file" || fail own
else
	fail fork_child
fi
kill -KILL "$line"
stop

if ls "$build"/libmemunreachable.so.0 >/dev/null 2>&1; then
	start check_unreachable_on_signal idle
	kill -48 "$pid"
	n=0
	while ! grep -q 'nreachable' "$work/err" && [ $n -lt 100 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	grep -q '^malloc_debug: Starting to check for unreachable memory.$' \
	    "$work/err" || fail md24
	stop
fi
exit $((failures > 0))

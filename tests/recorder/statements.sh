#!/bin/sh
# Statements on the recorder that no other play is named after; and the
# originals' tests verify_leak, leak_track, fill, free_track with threads,
# all_options, realloc_usable_size, malloc_and_backtrace_deadlock,
# malloc_disable_deadlock, exit while threads allocate.
set -u
. tests/recorder/core_play.inc
own=$here/statements
blocks=$here/statements_blocks
threads=$here/statements_threads
family=$here/statements_family
plain_all="guard fill free_track=50 verify_pointers expand_alloc leak_track"
export TMPDIR="$work"

# is NAME OPTIONS PROGRAM...: succeeds without a message.
is() {
	name=$1
	shift
	expect 0 "$@"
	grep '^line ' "$work/err" && fail "$name"
}

listed() {
	grep -c "leaked block of size $1 at 0x" "$work/err"
}

# dumps SUFFIX: the only heap dump, moved to $work/dump.
dumps() {
	set -- "$work"/backtrace_heap.*"$1"
	[ $# -eq 1 ] && [ -e "$1" ] && mv "$1" "$work/dump"
}

is names leak_track "$own" names
is names_asleep "" "$own" names
! nm -D --defined-only "$recorder" 2>/dev/null | grep -q ' debug_' ||
    fail no_entries_of_another_kind

# verify_leak, of each function: one entry, with its stack; freed: none.
is verify_leak "leak_track backtrace" "$family" lose
while read -r size; do
	[ "$(listed "$size")" -eq 1 ] || fail "verify_leak: $size"
done <"$work/out"
[ "$(wc -l <"$work/out")" -eq 19 ] || fail verify_leak: plays
[ "$(grep -c 'leaked block' "$work/err")" -eq \
    "$(grep -c 'Backtrace at time of allocation:$' "$work/err")" ] ||
    fail leak_track_with_stacks
for options in leak_track "leak_track guard" "leak_track free_track=5" \
    "$plain_all"; do
	is "leak_track_all_freed: $options" "$options" "$family" free
	! grep -q 'leaked block of size \(50[0-9][0-9]\|20480\) ' \
	    "$work/err" || fail "leak_track_all_freed: $options"
done
for options in backtrace "backtrace backtrace_full" "backtrace guard" \
    "backtrace free_track"; do
	is "own_frames: $options" "$options" "$family" stacks
	is "inside_the_call: $options" "$options" "$blocks" inside-the-call
	is "refreshed: $options" "$options" "$blocks" refreshed
done

# Calls that the recorder does not handle reach the allocator unchanged.
for options in "" backtrace "$plain_all"; do
	is "passed_on: $options" "$options" "$own" passed-on
	head -n 1 "$work/out" | grep -q '^<malloc version="1">' ||
	    fail "malloc_info: $options"
	! grep -q debug-malloc "$work/out" || fail "$options"
done

is tags "front_guard free_track" "$blocks" tags

# Bounds are inclusive and compare the requested size. Sizes are 99 + digit.
is size "bt bt_sz=100" "$blocks" filtered 1
is minimum "bt bt_min_sz=100 bt_max_sz=1000" "$blocks" filtered 123
is maximum "bt bt_max_sz=100" "$blocks" filtered 01
is both "bt bt_min_sz=100 bt_max_sz=101" "$blocks" filtered 12
is expanded "bt bt_sz=100 expand_alloc=50 guard" "$blocks" filtered 1
# For the stack of the free() the usable size is compared: 104 bytes.
for play in "0 100" "1 104" "0 105"; do
	under "free_track bt_min_sz=${play#* } bt_max_sz=${play#* }" \
	    "$here/core_errors" after_free_at_exit
	[ "$(complaints | grep -c 'USED AFTER FREE$')" -eq 1 ] ||
	    fail "after_free: $play"
	[ "$(grep -c 'Backtrace at time of free:$' "$work/err")" -eq \
	    "${play% *}" ] || fail "free_time_stack: $play"
done
# Blocks of other sizes are in the list and in the dump, without a stack.
under "bt bt_sz=7002 bt_dmp_on_ex leak_track" "$own" grown 3
if dumps .exit.txt; then
	grep -q '^z 1  sz     7001  num    1  bt$' "$work/dump" ||
	    fail without_a_stack
	grep -q '^z 1  sz     7002  num    3  bt [0-9a-f]' "$work/dump" ||
	    fail with_a_stack
else
	fail dump
fi
[ "$(listed 7001) $(listed 7002)" = "1 3" ] || fail list

is nothing_asked "rear_guard fill_on_alloc leak_track" "$blocks" nothing-asked
[ "$(listed 1)" -ge 8 ] || fail listed
is fill_partial "fill_on_alloc=8 free_track" "$blocks" partly-filled 0-64
is fill_partial_at_free "fill_on_alloc=8 fill_on_free=40" \
    "$blocks" partly-filled 16-40
for options in backtrace "backtrace leak_track verify_pointers"; do
	is "hidden: $options" "$options" "$own" hidden
done

# Two runs of different lengths tell growth from what is resident.
under leak_track "$own" grown 3
[ "$(listed 7001) $(listed 7002)" = "1 3" ] || fail short_run
under leak_track "$own" grown 9
[ "$(listed 7001) $(listed 7002)" = "1 9" ] || fail long_run

is realloc_usable_size "rear_guard" "$blocks" usable 1
is realloc_usable_size "guard free_track" "$blocks" usable 1
is realloc_usable_size "front_guard" "$blocks" usable 0
is realloc_usable_size "leak_track" "$blocks" usable 0
is realloc_usable_size "expand_alloc=100" "$blocks" usable 0

# write_leak_info, with and without a header.
for options in backtrace "backtrace guard free_track"; do
	is "write_leak_info: $options" "$options" "$own" written
	[ "$(head -n 2 "$work/out" | tr '\n' ' ')" = \
	    "before Android Native Heap Dump v1.2 " ] ||
	    fail "write_leak_info: $options: begin"
	grep -q '^z 1  sz     7006  num    1  bt [0-9a-f]* [0-9a-f]' \
	    "$work/out" || fail "write_leak_info: $options: record"
	[ "$(tail -n 1 "$work/out")" = behind ] ||
	    fail "write_leak_info: $options: end"
done

# Hooks and options at the same time, or hooks alone.
export LIBC_HOOKS_ENABLE=1
for options in backtrace "backtrace guard leak_track"; do
	is "hooks_beside_options: $options" "$options" "$own" hooks 1
done
[ "$(listed 7003)" -eq 1 ] || fail recorded_beside_hooks
under "" "$own" hooks 0 || fail "hooks_alone: $(cat "$work/err")"
unset LIBC_HOOKS_ENABLE

# Each part says something, in this order; stdio's buffer is no leak.
under "free_track leak_track record_allocs=1 record_allocs_on_exit \
    record_allocs_file=$work/none/file backtrace backtrace_dump_on_exit \
    log_allocator_stats_on_exit" "$own" exits text
[ "$(cat "$work/out")" = text ] || fail stdout_works
awk '/USED AFTER FREE$/ { print "quarantine" }
	/leaked block of size 7004 / { print "leaks" }
	/Cannot create record alloc file/ { print "journal" }
	/Dumping to file/ { print "dump" }
	/Logging allocator stats/ { print "stats" }' "$work/err" |
    tr '\n' ' ' >"$work/order"
[ "$(cat "$work/order")" = "quarantine leaks journal dump stats " ] ||
    fail "order: $(cat "$work/order")"
[ "$(listed 4096) $(listed 1024)" = "0 0" ] || fail buffers
dumps .exit.txt || fail dump

# check RECORDER TEXT...: request a check; each TEXT must be in the output.
check() {
	env LD_PRELOAD="$1" LIBC_DEBUG_MALLOC_OPTIONS=check_unreachable_on_signal \
	    "$own" checked >"$work/out" 2>"$work/err" &
	pid=$!
	shift
	for text; do
		tries=0
		until grep -q "$text" "$work/err" || [ $tries -ge 200 ]; do
			sleep 0.05
			tries=$((tries + 1))
		done
		[ $tries -lt 200 ] || fail "$text"
	done
	kill -KILL $pid
	wait $pid 2>/dev/null
}
started='^malloc_debug: Starting to check for unreachable memory\.$'
check "$recorder" "$started" 'in 1 allocation unreachable out of'
mkdir "$work/alone"
cp "$recorder" "$work/alone"
if ! /sbin/ldconfig -p 2>/dev/null | grep -q libmemunreachable.so.0; then
	check "$work/alone/${recorder##*/}" "$started" \
	    '^malloc_debug: Unreachable check failed, run setenforce 0 and try again\.$'
fi

# Lines of the journal have no count of resident bytes.
under "record_allocs=10000 record_allocs_on_exit" "$blocks" usable 0
set -- "$work"/record_allocs.txt.*
grep -q ': free ' "$1" || fail journal
! grep ': free ' "$1" | grep -qv \
    '^[0-9]*: free 0x[0-9a-f]* [0-9]* [0-9]*$' || fail free
! grep ': realloc ' "$1" | grep -qv \
    '^[0-9]*: realloc 0x[0-9a-f]* 0x[0-9a-f]* [0-9]* [0-9]* [0-9]*$' ||
    fail realloc
! grep -q pagemap "$recorder" || fail pagemap
rm -f "$1"

# all_options: they get along.
under "$plain_all backtrace=4 bt_full bt_dmp_on_ex record_allocs=100000 \
    record_allocs_on_exit check_unreachable_on_signal verbose \
    log_allocator_stats_on_signal log_allocator_stats_on_exit bt_min_sz=2 \
    backtrace_enable_on_signal abort_on_error" "$family" stacks ||
    fail "all_options: $(grep -v ' leaked ' "$work/err" | head -n 5)"
[ "$(complaints | grep -c 'malloc debug enabled$')" -eq 1 ] ||
    fail verbose_enabled
[ "$(complaints | grep -c "Run: 'kill -")" -eq 5 ] || fail verbose_hints
dumps .exit.txt || fail all_options_dump
rm -f "$work"/record_allocs.txt.*

# Threads, with forks, with profilers' signals, with the allocator closed.
for options in "backtrace leak_track" "$plain_all"; do
	is "fork: $options" "$options" "$threads" fork
	is "free_track_multi_thread: $options" "$options" "$threads" churn
done
under record_allocs=10000 "$threads" fork || fail fork: journal
# Before glibc 2.35 the compiler's unwinder takes locks, which the handler's
# own backtrace() then waits for.
full="backtrace backtrace_full"
case $(getconf GNU_LIBC_VERSION) in
"glibc 2."[12]? | "glibc 2.3"[0-4])
	full=
	echo "SKIPPED: md26 with backtrace_full: an unwinder that locks"
	;;
esac
for options in "verbose backtrace=16" "$full" "guard free_track backtrace"; do
	[ -n "$options" ] || continue
	under "$options" "$threads" unwound ||
	    fail "malloc_and_backtrace_deadlock: $options: $? $(
	        tail -n 2 "$work/err")"
	grep -q '^inside [1-9]' "$work/out" ||
	    echo "no signal came within the recorder: $options"
done
for options in "backtrace leak_track" "guard free_track backtrace"; do
	is "malloc_disable_deadlock: $options" "$options" "$threads" disabled
done
# If two threads free the same block at once, one is reported.
under "free_track=16384 verify_pointers" "$threads" twice ||
    fail free_track_twice_at_once
[ "$(grep -c 'USED AFTER FREE (free)$' "$work/err")" -eq 100 ] ||
    fail free_track_twice_at_once: reports

# Exit while threads allocate and free: status kept, and whole dumps.
round=0
while [ $round -lt 20 ]; do
	case $((round % 4)) in
	0) options="backtrace backtrace_dump_on_exit" ;;
	1) options="leak_track free_track guard" ;;
	2) options="backtrace backtrace_dump_on_exit leak_track" ;;
	3) options="record_allocs=50000 record_allocs_on_exit" ;;
	esac
	under "$options" "$here/core_exit"
	status=$?
	[ $status -eq 42 ] || fail "exit: $options: status $status"
	case $options in
	*dump*)
		{ dumps .exit.txt && grep -q '^END$' "$work/dump"; } ||
		    fail "whole_dump: $options"
		;;
	esac
	rm -f "$work"/record_allocs.txt.*
	round=$((round + 1))
done
[ "$failures" -eq 0 ]

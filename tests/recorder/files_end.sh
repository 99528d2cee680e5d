#!/bin/sh
# A file that is being written when the program ends is complete: the end
# waits.
set -u
. tests/support/script_setup.sh
program=$build/tests/recorder/files_end

# run SIGNAL HOW VARIABLE=VALUE...
run() {
	name="$*"
	signal=$1
	how=$2
	shift 2
	rm -f "$work"/*
	timeout 120 env TMPDIR="$work" LD_PRELOAD="$recorder" "$@" \
	    "$program" "$signal" "$how" >"$work/out" 2>"$work/err"
	status=$?
	wanted=5
	case "$how" in
	last) wanted=0 ;;
	abort) wanted=134 ;;
	fault) wanted=139 ;;
	kill) wanted=137 ;;
	term) wanted=143 ;;
	esac
	[ $status -eq $wanted ] || fail "status $status: $(cat "$work/err")"
	await is_over || fail "a process is left"
	set -- "$work"/*.new
	[ ! -e "$1" ] || fail "left: $1"
}

# After a signal has ended the program a process completes its file.
is_over() {
	! grep -qs "files_end" /proc/[0-9]*/maps
}

# shellcheck disable=SC3045 # dash and bash have it
ulimit -c 0
for how in return exit thread last _exit quick_exit vfork abort execl execlp \
    execle execv execvp execve term fault kill; do
	for options in bt "bt log_allocator_stats_on_signal"; do
		# The other is for the watcher that is a thread of libc.
		case "$how $options" in
		term*_stats* | fault*_stats* | kill*_stats*) continue ;;
		esac
		run 47 "$how" LIBC_DEBUG_MALLOC_OPTIONS="$options"
		set -- "$work"/backtrace_heap.*.txt
		if [ -e "$1" ]; then
			[ "$(grep -c -e "^END\$" -e "^# module .*files_end" "$1")" -ge 2 ] ||
			    fail "the dump is cut"
			[ "$(grep -c '^z 1  sz ' "$1")" -ge 6000 ] ||
			    fail "records are missing in the dump"
		else
			fail "no dump"
		fi
	done
	run 46 "$how" LIBC_DEBUG_MALLOC_OPTIONS=record_allocs
	[ "$(grep -c ': malloc ' "$work/record_allocs.txt")" -ge 60000 ] ||
	    fail "no journal"
	case $how in
	term | fault | kill) continue ;;
	esac
	run 10 "$how" LEAKTRACER_ONSIG_REPORT=USR1 \
	    LEAKTRACER_ONSTART_STARTALLTHREAD=1 \
	    LEAKTRACER_ONSIG_REPORTFILENAME="$work/leaks"
	[ "$(grep -c '^leak, ' "$work/leaks")" -ge 60000 ] || fail "no report"
done

# A program that is killed leaves nothing of a file that is not complete. /dev/shm
# is a tmpfs, which has files without a name.
work_shm=$(mktemp -d /dev/shm/memunreachable.XXXXXX)
for us in 0 500 1000 2000 4000 8000 12000 16000; do
	name="killed after $us us"
	env TMPDIR="$work_shm" LD_PRELOAD="$recorder" \
	    LIBC_DEBUG_MALLOC_OPTIONS=bt "$program" 47 killed "$us" \
	    >"$work/out" 2>&1
	set -- "$work_shm"/*.new
	[ ! -e "$1" ] || fail "left: $1"
done
rm -rf "$work_shm"
exit $((failures > 0))

#!/bin/sh
# The recorder's calls in a program that runs under it, malloc_disable(), hooks.
set -u
build=${BUILD:-build}
program=$build/tests/recorder/files_program
library=$build/libmemunreachable-malloc-debug.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# play NAME OPTIONS MODE
play() {
	timeout 60 env LIBC_DEBUG_MALLOC_OPTIONS="$2" LD_PRELOAD="$library" \
	    "$program" "$3" >"$work/out" 2>"$work/err"
	status=$?
	if [ $status -ne 0 ]; then
		echo "FAILED: $1: status $status"
		cat "$work/err"
		failed=1
	fi
}

play md36_leak_info backtrace leak-info
play md36_leak_info_by_the_alias bt leak-info
play md36_leak_info_with_guards "bt guard fill free_track" leak-info
play md36_leak_info_full "bt bt_full" leak-info
play md34_not_enabled "" disabled
play md34_not_enabled_but_tracking leak_track disabled
play md56_backtrace bt=32 backtrace
play md57_iterate leak_track iterate
play md57_iterate_with_guards "guard bt" iterate
play disable_and_enable bt disable
play disable_and_enable_with_guards "guard leak_track=" disable

# The four lines that say how to set the option are in the file, the reason on
# stderr.
LD_PRELOAD=$library "$program" disabled >"$work/out" 2>"$work/err"
[ "$(wc -l <"$work/out")" -eq 4 ] || {
	echo "FAILED: md46_not_enabled"
	failed=1
}

# hooks NAME ENABLE OPTIONS MODE
hooks() {
	timeout 60 env LIBC_HOOKS_ENABLE="$2" LIBC_DEBUG_MALLOC_OPTIONS="$3" \
	    LD_PRELOAD="$library" "$program" "$4" >"$work/out" 2>"$work/err" || {
		echo "FAILED: $1"
		cat "$work/err"
		failed=1
	}
}
hooks md60_enabled 1 "" hooks
hooks md60_not_enabled "" "" hooks-off
hooks md60_zero 0 "" hooks-off
hooks md61_with_options 1 "bt guard" hooks
exit $failed

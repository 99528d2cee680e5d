#!/bin/sh
# The recorder's calls in a program that runs under it, malloc_disable(), hooks.
set -u
. tests/support/script_setup.sh
shown=$work/err
program=$build/tests/recorder/files_program

# play NAME OPTIONS MODE
play() {
	timeout 60 env LIBC_DEBUG_MALLOC_OPTIONS="$2" LD_PRELOAD="$recorder" \
	    "$program" "$3" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || fail "$1: status $status"
}

play leak_info backtrace leak-info
play leak_info_by_the_alias bt leak-info
play leak_info_with_guards "bt guard fill free_track" leak-info
play leak_info_full "bt bt_full" leak-info
play not_enabled "" disabled
play not_enabled_but_tracking leak_track disabled
play backtrace bt=32 backtrace
play iterate leak_track iterate
play iterate_with_guards "guard bt" iterate
play disable_and_enable bt disable
play disable_and_enable_with_guards "guard leak_track=" disable

# The four lines that say how to set the option are in the file, the reason on
# stderr.
LD_PRELOAD=$recorder "$program" disabled >"$work/out" 2>"$work/err"
[ "$(wc -l <"$work/out")" -eq 4 ] || fail not_enabled

# hooks NAME ENABLE OPTIONS MODE
hooks() {
	timeout 60 env LIBC_HOOKS_ENABLE="$2" LIBC_DEBUG_MALLOC_OPTIONS="$3" \
	    LD_PRELOAD="$recorder" "$program" "$4" >"$work/out" 2>"$work/err" ||
		fail "$1"
}
hooks enabled 1 "" hooks
hooks not_enabled "" "" hooks-off
hooks zero 0 "" hooks-off
hooks with_options 1 "bt guard" hooks
exit $((failures > 0))

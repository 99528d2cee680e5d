#!/bin/sh
# LeakSanitizer's interface: what LLVM's own tests ask of it, without and with
# the recorder.
set -u
. tests/support/script_setup.sh
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS LSAN_OPTIONS
shown=$work/err
echo '#include <sanitizer/lsan_interface.h>' >"$work/header.cc"
${CXX:-c++} -fsyntax-only "$work/header.cc" 2>/dev/null || {
	echo "SKIPPED: no sanitizer/lsan_interface.h"
	exit 77
}
${CXX:-c++} -std=c++17 -g -O1 -rdynamic -Wall -Wextra -o "$work/cases" \
	tests/live/glue/lsan/cases.cc -L"$build" -lmemunreachable-lsan \
	-Wl,-rpath,"$build" -pthread || fail "does not compile"

# ends STATUS CASE [VARIABLE=VALUE...]
ends() {
	expected=$1 name=$2
	shift 2
	env "$@" "$work/cases" "$name" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq "$expected" ] || fail "$* status $status"
	[ "$(cat "$work/out")" = unflushed ] || fail "standard output is lost"
}

# leaks BYTES BLOCKS
leaks() {
	like "$work/err" \
		'^==[0-9]+==ERROR: LeakSanitizer: detected memory leaks$'
	has "$work/err" \
		"SUMMARY: LeakSanitizer: $1 byte(s) leaked in $2 allocation(s)."
}

ends 0 clean
[ ! -s "$work/err" ] || fail "words on standard error"
ends 23 leaks
leaks 1352 1
has "$work/err" 'Direct leak of 1352 byte(s) in 1 object(s)'
ends 0 leaks LSAN_OPTIONS=detect_leaks=0
ends 0 leaks LSAN_OPTIONS=leak_check_at_exit=0
ends 7 leaks LSAN_OPTIONS=verbosity=0,exitcode=7
ends 0 leaks LSAN_OPTIONS=exitcode=0
leaks 1352 1
ends 9 leaks CASES_OPTIONS=exitcode=9
ends 7 leaks CASES_OPTIONS=exitcode=9 LSAN_OPTIONS=exitcode=7
ends 0 link_turned_off
[ ! -s "$work/err" ] || fail "words on standard error"
ends 23 do_leak_check_override
has_no "$work/err" 'not reached'
# What is lost behind the first check is not looked for.
ends 0 do_leak_check_early
ends 0 recoverable_leak_check
[ "$(grep -c 'ERROR: LeakSanitizer' "$work/err")" -eq 2 ] ||
	fail "not two reports"
has "$work/err" recovered
# The variables count no longer, and the first check fails.
ends 23 recoverable_leak_check LSAN_OPTIONS=use_globals=0
has_no "$work/err" recovered
ends 23 ignore_object
leaks 1352 1
ends 0 register_root_region
ends 23 unregister_root_region
leaks 1352 1
for registers in 0 1; do
	ends 23 exit_atexit_stale_stack \
		LSAN_OPTIONS=use_registers=$registers
	leaks 1352 1
done

ends 23 leaks LSAN_OPTIONS="log_path=\"$work/log\""
[ ! -s "$work/err" ] || fail "words on standard error"
mv "$work"/log.* "$work/err"
leaks 1352 1
ends 0 clean CASES_OPTIONS='verbosity=1 help=1'
has "$work/err" 'Available flags for LeakSanitizer:'
like "$work/err" '^	exitcode$'

# What needs a stack, or the moment of the allocation.
record="LD_PRELOAD=$recorder LIBC_DEBUG_MALLOC_OPTIONS=backtrace"
# shellcheck disable=SC2086 # words
{
	ends 23 disabler LD_PRELOAD="$recorder"
	like "$work/err" 'SUMMARY: LeakSanitizer: 20[0-9]* byte.* in 2 alloc'
	ends 23 leaks $record
	like "$work/err" '^    #0 0x[0-9a-f]+ in lose \(.*/cases\+0x'
	ends 0 suppressions_default $record
	like "$work/err" '^ +1 +1337 \^lose\$$|^ +1 +1352 \^lose\$$'
	has "$work/err" 'Suppressions used:'
	# Nothing of our own is lost where only stacks refer to it.
	here="report_objects=1:use_stacks=0:use_registers=0"
	ends 23 leaks $record LSAN_OPTIONS="$here:suppressions='$work/none' "
	has "$work/err" "failed to read suppressions file '$work/none'"
	: >"$work/none"
	ends 23 leaks $record LSAN_OPTIONS="$here:suppressions='$work/none' "
	leaks 1337 1
	has "$work/err" 'Direct leak of 1337 byte(s) in 1 object(s)'
	like "$work/err" '^0x[0-9a-f]+ \(1337 bytes\)$'
	# The recorder's bound of all addresses is within it.
	ends 23 large_allocation_leak $record
	leaks 33554432 1
	ends 23 indirect $record
	leaks 766 2
	has "$work/err" 'Indirect leak of 666 byte(s) in 1 object(s)'
	echo 'leak:make_inner' >"$work/file"
	ends 23 indirect $record LSAN_OPTIONS=suppressions="$work/file"
	leaks 100 1
	# What it leads to is suppressed, too.
	echo 'leak:lose_outer' >"$work/file"
	ends 0 indirect $record LSAN_OPTIONS=suppressions="$work/file"
	has_no "$work/err" SUMMARY
	echo 'leak:cases' >"$work/file"
	ends 0 leaks $record LSAN_OPTIONS=suppressions="$work/file"
	ends 0 leaks $record \
		LSAN_OPTIONS=print_suppressions=0:suppressions="$work/file"
	[ ! -s "$work/err" ] || fail "suppressions are told"
	echo 'leak:other' >"$work/file"
	ends 23 leaks $record LSAN_OPTIONS=suppressions="$work/file"
}
exit $((failures > 0))

#!/bin/sh
# The whole test suite on every rung of the stop ladder: forced to stop threads
# by ptrace, forced to do it by signal; and where ptrace is refused, so that a
# pass has to step down by itself: under gdb, under strace, in a sandbox, and
# there as a user without any rights.
#
# Before each, a probe shows that the rung is what it says; and every test that
# asks for an answer by tests/support/live.h looks at how its threads were
# stopped (TESTS_STOP). One line that counts a rung, one at the end for all.
#
# Usage: rungs.sh PROGRAM...
# Environment: BUILD, RUNGS ("ptrace signal gdb strace sandbox nobody"), TESTS
#   (words; only programs whose name has one of them).
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export BUILD
rungs=${RUNGS:-ptrace signal gdb strace sandbox nobody}
given=${MEMUNREACHABLE_OPTIONS:-}
log=$BUILD/rung-output
counts=$BUILD/rung-counts
passed=0 failed=0 skipped=0

# Rungs, program, and why it is not run there.
not_here() {
	cat <<'END'
signal,gdb,strace,sandbox,nobody live/test_failures each step of the collector fails, and by signal there is none
signal,gdb,strace,sandbox,nobody live/test_left_out_spoilt the collector holds the threads, and by signal there is none
gdb,strace,sandbox,nobody live/test_refusal traces processes, to be refused one by one
gdb,strace,sandbox,nobody live/test_thread_capture traces processes itself
gdb,strace,sandbox,nobody live/test_thread_capture_gone traces processes itself
gdb,strace,sandbox,nobody live/test_thread_capture_refused traces processes itself
gdb,strace,sandbox,nobody live/test_thread_capture_signals traces processes itself
gdb,strace,sandbox,nobody live/test_thread_capture_stopped traces processes itself
gdb,strace,sandbox,nobody live/test_snapshot_collector traces its parent
gdb,strace,sandbox,nobody live/test_snapshot_live traces processes itself
gdb,strace,sandbox,nobody live/test_snapshot_registers traces processes itself
gdb,strace,sandbox,nobody live/test_unseen_libc looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_proc looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_registers looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_sigchld looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_sigwait looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_stacks looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_state looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_stopped looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_timers looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_unseen_waits looks at both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_arena_faults goes both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_fault_sweep goes both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_fault_stops goes both ways of stopping, one by one
gdb,strace,sandbox,nobody live/test_causes makes each cause of a refusal by itself
gdb,strace,sandbox,nobody live/places_traced.sh starts gdb and strace itself
gdb,strace,sandbox,nobody live/places_denied.sh denies ptrace itself
END
}

# The wrapper, the options, how threads are stopped (1 by ptrace, 2 by signal)
# and whether the program is traced.
describe() {
	wrapper='' options='' stop=2 traced=0
	unset TESTS_PASSES
	# For tests of what else may be the cause: ptrace is refused here.
	export TESTS_REFUSED=1
	case $1 in
	ptrace)
		options=stop=ptrace stop=1
		unset TESTS_REFUSED
		;;
	signal)
		options=stop=signal
		unset TESTS_REFUSED
		;;
	gdb)
		wrapper="sh tests/support/under_gdb.sh"
		traced=1
		;;
	strace)
		wrapper="strace -f -qq -o /dev/null"
		export TESTS_PASSES=100
		traced=1
		;;
	sandbox) wrapper=$BUILD/tests/support/no_ptrace ;;
	nobody) wrapper="$BUILD/tests/support/no_ptrace -u 65534" ;;
	*)
		echo "rungs.sh: no rung $1"
		exit 2
		;;
	esac
}

# Say why the rung cannot be had here, if it cannot.
lacks() {
	case $1 in
	gdb)
		if ! gdb -batch -nx -ex 'python print(1)' >/dev/null 2>&1; then
			echo "no gdb with Python here"
		fi
		;;
	strace) command -v strace >/dev/null || echo "no strace here" ;;
	nobody)
		if [ "$(id -u)" -ne 0 ]; then
			echo "needs root to become somebody else"
		elif ! $wrapper test -x "$BUILD/tests/support/rung_probe"; then
			echo "user 65534 cannot read $BUILD"
		fi
		;;
	esac
}

probe() {
	expected="stop $stop traced $traced found 1"
	# The wrapper is words by intention.
	# shellcheck disable=SC2086
	seen=$($wrapper "$BUILD/tests/support/rung_probe" 2>&1)
	right=$(echo "$seen" | grep -Fxc "$expected")
	[ "$right" -ge 2 ] &&
		[ "$(echo "$seen" | grep -c '^stop ')" -eq "$right" ] &&
		return 0
	printf '%-8s is not what it says, expected twice: %s\n' "$1" "$expected"
	echo "$seen" | sed 's/^/    /'
	return 1
}

# Of the programs, those that RUNG runs: $chosen.
choose() {
	rung=$1 chosen=
	shift
	for program in "$@"; do
		name=${program##*/tests/}
		name=${name#tests/}
		wanted=${TESTS:+no}
		for word in ${TESTS:-}; do
			case $name in
			*$word*) wanted=yes ;;
			esac
		done
		[ "$wanted" != no ] || continue
		reason=$(not_here | awk -v rung="$rung" -v name="$name" '
			$2 == name && (" " $1 " ") ~ "[ ,]" rung "[ ,]" {
				sub(/^[^ ]* +[^ ]* +/, "")
				print
			}')
		if [ -n "$reason" ]; then
			echo "not run here: $name: $reason"
		else
			chosen="$chosen $program"
		fi
	done
}

run() {
	echo "--- $1${options:+: $options}${wrapper:+: $wrapper}"
	choose "$@"
	MEMUNREACHABLE_OPTIONS=$given${given:+${options:+:}}$options
	TESTS_STOP=$stop
	export MEMUNREACHABLE_OPTIONS TESTS_STOP
	if ! probe "$1"; then
		line="0 passed, 1 failed, 0 skipped"
	else
		# shellcheck disable=SC2086
		sh tests/run.sh ${wrapper:+-w "$wrapper"} $chosen |
			tee "$log"
		line=$(tail -n 1 "$log")
	fi
	printf '%-8s %s\n' "$1" "$line" | tee -a "$counts"
}

# A tracer makes everything slower, and not by the same factor.
export CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-4}"
export TEST_TIMEOUT="${TEST_TIMEOUT:-600}"
: >"$counts"
for rung in $rungs; do
	describe "$rung"
	reason=$(lacks "$rung")
	if [ -n "$reason" ]; then
		echo "SKIPPED: $rung: $reason"
		echo "$rung 0 passed, 0 failed, 1 skipped" >>"$counts"
		continue
	fi
	run "$rung" "$@"
done
echo "---"
while read -r rung p _ f _ s _; do
	printf '%-8s %s passed, %s failed, %s skipped\n' "$rung" "$p" "$f" "$s"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done <"$counts"
rm -f "$log" "$counts"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# The whole test suite on every stop method: forced to stop threads
# by ptrace, forced to do it by signal; and where ptrace is refused, so that a
# pass has to step down by itself: under gdb, under strace, in a sandbox, and
# there as a user without any rights.
#
# Before each, a probe shows that the method is what it says; and every test that
# asks for an answer by tests/support/live.h looks at how its threads were
# stopped (TESTS_STOP). One line that counts a method, one at the end for all.
#
# Usage: stop_methods.sh PROGRAM...
# Environment: BUILD, STOP_METHODS ("ptrace signal gdb strace sandbox nobody"), TESTS
#   (words; only programs whose name has one of them).
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export BUILD
methods=${STOP_METHODS:-ptrace signal gdb strace sandbox nobody}
given=${MEMUNREACHABLE_OPTIONS:-}
log=$BUILD/stop-method-output
counts=$BUILD/stop-method-counts
passed=0 failed=0 skipped=0

# Stop methods, programs, and why they are not run there. What goes both ways by itself
# is whole in `make check`, and would set aside what is chosen here.
not_here() {
	cat <<'END'
all live/environments/* plays each place by each way of stopping
all live/transparency/* looks at each way of stopping
all live/faults/test_fault_* spoils each way of stopping
all live/faults/test_arena_faults spoils each way of stopping
all live/faults/test_proc_hidden hides /proc from each way of stopping
all live/faults/test_causes makes each cause of a refusal, and shortages in each way of stopping
all live/stop/test_thread_capture traces processes itself
all live/stop/test_snapshot* traces processes itself
all live/heaps/test_recorded* stops no thread: what is recorded is a copy
all live/heaps/recorded_*.sh stops no thread: what is recorded is a copy
all live/command/cli_process.sh looks at another process, from outside
all live/check/test_check_* looks at another process, from outside
all live/check/test_process_copy* looks at another process, from outside
all live/check/test_remote_call* looks at another process, from outside
all live/check/test_core_files looks at cores
all live/check/check_servers.sh looks at other processes, from outside
all live/command/watch.sh looks at another process, from outside
all live/check/doctor.sh asks about other processes, itself
ptrace,signal live/pass/test_in_place makes no image, as only stop=auto does
ptrace,signal live/pass/test_in_thread starts no process, as only stop=auto does
signal,gdb,strace,sandbox,nobody live/faults/test_gap_sync_damaged damages what the collector holds; by signal there is none
gdb,strace,sandbox,nobody live/faults/test_probe installs its own filters against ptrace
gdb live/*.sh starts programs from a shell by the dozen: gdb 13 loses its way
END
}

# The wrapper, the options, how threads are stopped (1 by ptrace, 2 by signal)
# and whether the program is traced.
describe() {
	wrapper='' options='' stop=2 traced=0
	unset TESTS_PASSES TESTS_GDB
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
		wrapper="sh tests/support/stop/under_gdb.sh"
		export TESTS_PASSES=100 TESTS_GDB=1
		traced=1
		;;
	strace)
		wrapper="strace -f -qq -o /dev/null"
		export TESTS_PASSES=100
		traced=1
		;;
	sandbox) wrapper=$BUILD/tests/support/stop/no_ptrace ;;
	nobody) wrapper="$BUILD/tests/support/stop/no_ptrace -u 65534" ;;
	*)
		echo "stop_methods.sh: no method $1"
		exit 2
		;;
	esac
}

# Say why the method cannot be had here, if it cannot.
missing() {
	case $1 in
	gdb)
		if ! gdb -batch -nx -ex 'python print(1)' >/dev/null 2>&1; then
			echo "no gdb with Python here"
		fi
		;;
	strace) command -v strace >/dev/null || echo "no strace here" ;;
	nobody)
		if [ "$(id -u)" -ne 0 ]; then
			echo "needs root to become another user"
		elif ! $wrapper test -x "$BUILD/tests/support/stop/stop_method_probe"; then
			echo "user 65534 cannot read $BUILD"
		fi
		;;
	esac
}

probe() {
	expected="stop $stop traced $traced found 1"
	# The wrapper is words by intention.
	# shellcheck disable=SC2086
	seen=$($wrapper "$BUILD/tests/support/stop/stop_method_probe" 2>&1)
	right=$(echo "$seen" | grep -Fxc "$expected")
	[ "$right" -ge 2 ] &&
		[ "$(echo "$seen" | grep -c '^stop ')" -eq "$right" ] &&
		return 0
	printf '%-8s is not what it says, expected twice: %s\n' "$1" "$expected"
	echo "$seen" | sed 's/^/    /'
	return 1
}

# A unit test that never asks stops no thread, and is the same everywhere.
asks() {
	case $1 in
	unit/*) grep -q GetUnreachableMemory "tests/$1".c* ;;
	esac
}

# Why METHOD does not run program NAME, if it does not.
excuse() {
	not_here | while read -r where name why; do
		# The name is a pattern by intention.
		# shellcheck disable=SC2254
		case ,$where, in
		,all, | *,$1,*) case $2 in
			$name) echo "$why" ;;
			esac ;;
		esac
	done
}

is_wanted() {
	[ -n "${TESTS:-}" ] || return 0
	for word in $TESTS; do
		case $1 in
		*$word*) return 0 ;;
		esac
	done
	return 1
}

# Of the programs, those that METHOD runs: $chosen.
choose() {
	method=$1 chosen='' units=0
	shift
	for program in "$@"; do
		name=${program##*/tests/}
		name=${name#tests/}
		is_wanted "$name" || continue
		if ! asks "$name"; then
			units=$((units + 1))
			continue
		fi
		reason=$(excuse "$method" "$name")
		if [ -n "$reason" ]; then
			echo "not run here: $name $reason"
		else
			chosen="$chosen $program"
		fi
	done
	[ $units -eq 0 ] ||
		echo "not run here: $units unit tests that stop no thread"
}

run() {
	echo "--- $1${options:+: $options}${wrapper:+: $wrapper}"
	[ -z "${TESTS_PASSES:-}" ] ||
		echo "smaller here: $TESTS_PASSES passes for hundreds"
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
for method in $methods; do
	describe "$method"
	reason=$(missing "$method")
	if [ -n "$reason" ]; then
		echo "SKIPPED: $method: $reason"
		echo "$method 0 passed, 0 failed, 1 skipped" >>"$counts"
		continue
	fi
	run "$method" "$@"
done
echo "---"
while read -r method p _ f _ s _; do
	printf '%-8s %s passed, %s failed, %s skipped\n' "$method" "$p" "$f" "$s"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done <"$counts"
rm -f "$log" "$counts"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

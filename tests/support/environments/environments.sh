# shellcheck shell=sh disable=SC2034 # others use what is set here
# For the plays of where a pass must work: the program is put into a place, on
# each stop method, and its line of output must be what is expected.
. tests/support/script_setup.sh
library=$build/libmemunreachable.so
victims=$build/tests/live/victims
checks=0 skips=0

# Longer than any play takes on a machine that does a lot besides.
patience=240
options=timeout=100000

skip() {
	echo "SKIPPED: $1"
	skips=$((skips + 1))
}

# Is PROGRAM here? If not, what WHAT says is skipped.
have() {
	command -v "$1" >/dev/null && return
	skip "$2: no $1 here"
	return 1
}

# The program where every user can read it, with the library that its run path
# ($ORIGIN/../../..) names: the build may lie in a folder of mode 0700.
readable_place() {
	mkdir -p "$work/build/tests/live/victims" &&
		cp "$victims/victim_environment" "$work/build/tests/live/victims/" &&
		cp "$build/libmemunreachable.so.0" "$work/build/" &&
		chmod -R a+rX "$work/build" || return 1
	echo "$work/build/tests/live/victims/victim_environment"
}

# A word of what is expected as the whole line (an extended expression).
whole() {
	tail="the same again; unharmed"
	case $1 in
	ptrace | signal) echo "^complete by $1: exact; $tail\$" ;;
	^*) echo "$1" ;;
	*) echo "^$1 by none: .*; $tail\$" ;;
	esac
}

# The lines in FILE: one of them must be what WORD says.
judge() {
	checks=$((checks + 1))
	grep -Eq "$(whole "$1")" "$2" && return
	fail "expected \"$1\", got:"
	head -c 2000 "$2" | sed 's/^/    /'
}

# One play. STOP (the option), EXPECTED (ptrace, signal, or how it failed), and
# the command. What it printed is in $work/out afterwards.
play() {
	stop=$1 expected=$2
	shift 2
	MEMUNREACHABLE_OPTIONS="stop=$stop:max_pause=10s:$options" \
	    timeout -k 5 $patience "$@" >"$work/out" 2>&1 </dev/null
	status=$?
	judge "$expected" "$work/out"
	if [ $status -ge 124 ]; then
		fail "exit status $status with stop=$stop"
	fi
}

# NAME, what is expected of stop=auto, =ptrace, =signal ("-": not played).
places() {
	subject=$1 auto=$2 ptrace=$3 signal=$4
	shift 4
	name="$subject, stop=auto"
	[ "$auto" = - ] || play auto "$auto" "$@"
	name="$subject, stop=ptrace"
	[ "$ptrace" = - ] || play ptrace "$ptrace" "$@"
	name="$subject, stop=signal"
	[ "$signal" = - ] || play signal "$signal" "$@"
}

# The end of a script: the count that run.sh adds up.
finish_places() {
	if [ "$checks" -eq 0 ] && [ "$skips" -gt 0 ]; then
		exit 77
	fi
	echo "100%: Checks: $checks, Failures: $failures, Errors: 0"
	[ "$failures" -eq 0 ]
}

#!/bin/sh
# Run test programs, JOBS at a time, and count: "N passed, N failed, N skipped".
#
# A program that uses check prints its own count, which is added up; any other
# counts as one test. Exit status 77 is a skip, and a loud one. A program whose
# source has a line "ALONE: reason" runs when all others are done, by itself.
# Behind each program: seconds from start to end, and CPU time.
#
# Usage: run.sh [-w WRAPPER] PROGRAM...   (WRAPPER: words in front of each)
# Environment: BUILD, JOBS (one more than CPUs, as tests sleep), TEST_TIMEOUT (600 s a
# program).
set -u
BUILD=${BUILD:-build}
export BUILD
# Limits are for tests that hang. check's own is 4 s a test; a virtual machine
# whose host takes memory back stood still for 17 s at a time.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-240}"

# A python3 that is a script, as pyenv's, takes 0.1 s longer to start than what it
# runs.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' \
    2>/dev/null) && PATH=$python:$PATH

# How long each program took when it last ran: "SECONDS PROGRAM".
DURATIONS=$BUILD/durations

# Run PROGRAM; print its line, and its output if it failed. In FOLDER: one line
# "passed failed skipped" of each program, and what failed.
run_one() {
	folder=$1 program=$2
	name=$(echo "${program##*/tests/}" | tr ./ __)
	log=$folder/$name.log
	case $program in
	*.sh) set -- sh "$program" ;;
	*) set -- "$program" ;;
	esac
	began=$(date +%s)
	# The wrapper is words by intention.
	# shellcheck disable=SC2086
	TESTS_PLAY=$log timeout -k 10 "${TEST_TIMEOUT:-600}" $WRAPPER "$@" >"$log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - began))
	echo "$took $program" >"$folder/$name.took"
	times >"$folder/$name.times" # in this shell, not in one of a pipe
	took="${took}s, CPU $(awk -F '[ms ]' \
	    'END { printf "%.1fs", 60 * $1 + $2 + 60 * $4 + $5 }' \
	    "$folder/$name.times")"
	counts=$(sed -n \
	    's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' \
	    "$log" | awk '{ c += $1; b += $2 + $3 } END { if (NR) print c - b, b }')
	passed=0 failed=0 skipped=0
	if [ "$status" -eq 77 ]; then
		skipped=1
		verdict=SKIPPED
	elif [ -n "$counts" ]; then
		passed=${counts% *} failed=${counts#* }
		skipped=$(grep -c '^SKIPPED:' "$log")
		verdict="$passed passed, $failed failed"
		if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
			failed=1
			verdict="$verdict, but exit status $status"
		fi
	elif grep -q '^Running suite' "$log"; then
		failed=1
		verdict="FAILED (no count, exit status $status)"
	elif [ "$status" -eq 0 ]; then
		passed=1
		verdict=passed
	else
		failed=1
		verdict="FAILED (exit status $status)"
	fi
	echo "$passed $failed $skipped" >"$folder/$name.counts"
	{
		printf '%-40s %s (%s)\n' "${program##*/tests/}" "$verdict" "$took"
		if [ "$failed" -eq 0 ]; then
			grep '^SKIPPED:' "$log"
		else
			sed 's/^/    /' "$log" | tail -n 40
		fi
	} >"$folder/$name.lines"
	[ "$failed" -eq 0 ] || {
		echo "${program##*/tests/}: $verdict ($took)"
		grep -E ':[FE]:|FAIL|WRONG' "$log" | tail -n 5 | cut -c 1-200 |
			sed 's/^/    /'
	} >"$folder/$name.bad"
	# All of it at once: others print, too.
	flock "$folder" cat "$folder/$name.lines"
	rm -f "$log" "$folder/$name.lines"
}

if [ "${1:-}" = --one ]; then
	run_one "$2" "$3"
	exit 0
fi

WRAPPER=
if [ "${1:-}" = -w ]; then
	WRAPPER=$2
	shift 2
fi
export WRAPPER

is_alone() {
	source=${1#"$BUILD"/}
	grep -qs 'ALONE: ' "$source" "$source.c" "$source.cc"
}

# The longest first, as what begins last should be short. In front of them those
# that never ran here: the longest ones by a list, and the others in the order
# given.
in_order() {
	touch "$DURATIONS"
	printf '%s\n' "$@" | awk -v file="$DURATIONS" -v list=tests/longest '
	BEGIN {
		while ((getline <file) > 0) took[$2] = $1
		while ((getline <list) > 0) rank[$1] = ++ranks
	}
	{
		name = $1
		sub(/^.*tests\//, "", name)
		first = name in rank ? 199999 - rank[name] : 99999
		print ($1 in took ? took[$1] : first), NR, $1
	}' |
		sort -k 1,1nr -k 2,2n | cut -d ' ' -f 3
}

mkdir -p "$BUILD"
results=$(mktemp -d "$BUILD/tests-XXXXXX") || exit 1
trap 'rm -rf "$results"' EXIT
trap 'exit 1' INT TERM
for program in $(in_order "$@"); do
	if is_alone "$program"; then
		echo "$program" >>"$results/alone"
	else
		echo "$program" >>"$results/together"
	fi
done
touch "$results/alone" "$results/together"
xargs -r -n 1 -P "${JOBS:-$(($(nproc) + 1))}" sh "$0" --one "$results" \
	<"$results/together"
xargs -r -n 1 sh "$0" --one "$results" <"$results/alone"
if [ -z "$WRAPPER" ]; then
	find "$results" -name '*.took' -exec cat {} + |
		cat - "$DURATIONS" | awk '!seen[$2]++' >"$results/durations"
	mv "$results/durations" "$DURATIONS"
fi
# Again at the end: the last lines of a log may be all that is kept.
if [ -n "$(find "$results" -name '*.bad')" ]; then
	echo "What failed:"
	cat "$results"/*.bad
fi
find "$results" -name '*.counts' -exec cat {} + |
	awk -v programs=$# '{ p += $1; f += $2; s += $3 } END {
	if (NR != programs) f += programs - NR
	printf "%d passed, %d failed, %d skipped\n", p, f, s
	exit f > 0 }'

#!/bin/sh
# Run test programs one after another and count: "N passed, N failed".
#
# A program that uses check prints its own count, which is added up; any other
# counts as one test. Exit status 77 is a skip, and a loud one. TEST_TIMEOUT is
# seconds a program.
#
# Usage: run.sh [-w WRAPPER] PROGRAM...   (WRAPPER: words in front of each)
set -u
wrapper=
if [ "${1:-}" = -w ]; then
	wrapper=$2
	shift 2
fi
passed=0 failed=0 skipped=0 bad=
limit=${TEST_TIMEOUT:-600}
log=${BUILD:-build}/test-output
mkdir -p "${BUILD:-build}"
# Limits are for tests that hang. check's own is 4 s a test; a virtual machine
# whose host takes memory back stood still for 17 s at a time.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-240}"

for program in "$@"; do
	case $program in
	*.sh) set -- sh "$program" ;;
	*) set -- "$program" ;;
	esac
	began=$(date +%s)
	# The wrapper is words by intention.
	# shellcheck disable=SC2086
	timeout -k 10 "$limit" $wrapper "$@" >"$log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - began))
	counts=$(sed -n \
	    's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' \
	    "$log" | awk '{ c += $1; b += $2 + $3 } END { if (NR) print c - b, b }')
	skips=$(grep -c '^SKIPPED:' "$log")
	if [ "$status" -eq 77 ]; then
		skipped=$((skipped + 1))
		verdict=SKIPPED
	elif [ -n "$counts" ]; then
		passed=$((passed + ${counts% *}))
		failed=$((failed + ${counts#* }))
		skipped=$((skipped + skips))
		verdict="${counts% *} passed, ${counts#* } failed"
		if [ "$status" -ne 0 ] && [ "${counts#* }" -eq 0 ]; then
			failed=$((failed + 1))
			verdict="$verdict, but exit status $status"
		fi
	elif grep -q '^Running suite' "$log"; then
		failed=$((failed + 1))
		verdict="FAILED (no count, exit status $status)"
	elif [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
		verdict=passed
	else
		failed=$((failed + 1))
		verdict="FAILED (exit status $status)"
	fi
	printf '%-44s %s (%ss)\n' "${program##*/tests/}" "$verdict" "$took"
	case $verdict in
	*" 0 failed" | passed) grep '^SKIPPED:' "$log" ;;
	*)
		sed 's/^/    /' "$log" | tail -n 40
		bad="$bad${program##*/tests/}: $verdict (${took}s)
$(grep -E ':[FE]:|FAIL' "$log" | tail -n 5 | sed 's/^/    /')
"
		;;
	esac
done
rm -f "$log"
# Again at the end: who keeps the last lines only keeps these.
[ -z "$bad" ] || printf 'What failed:\n%s' "$bad"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

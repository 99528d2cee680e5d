#!/bin/sh
# Answers on a machine that has ten times more to do than it can: of programs
# about themselves (test_many_passes), and of -p about busy ones
# (victim_busy), by a fork and by reading. Compilers that start and end, and
# programs that spin, are the load. A fault that needs a thread to be late by
# milliseconds shows here, and hardly on a quiet machine.
#
# Usage: load.sh    Environment: BUILD (build), LOAD_SELF (4 programs),
#   TESTS_PASSES (450 of each), LOAD_LOOKED_AT (3 programs), LOAD_LOOKS (100 at
#   each), LOAD_SPINNERS (6), LOAD_COMPILERS (4)
#
# Prints how many answers were right, how many said that the heap could not be
# checked, or only in part, and each wrong one. Exit status 1: one was wrong, or
# a program was harmed.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/support/script_setup.sh
. tests/support/script_setup.sh
export TESTS_PASSES="${TESTS_PASSES:-450}"
looks=${LOAD_LOOKS:-100}
testers=''

# JSON on standard input: "complete 39", or nothing.
fields='
import json, sys
d = json.load(sys.stdin)
print(d["status"], d["num_leaks"])
'

# look NUMBER PID BLOCKS OPTION...: "right", "not complete", or what is wrong.
look() {
	file=$work/$1 pid=$2 blocks=$3
	shift 3
	"$build/memunreachable" -q --format=json "$@" -p "$pid" \
		>"$file.json" 2>"$file.err"
	status=$?
	found=$(python3 -c "$fields" <"$file.json" 2>/dev/null)
	case "$status $found" in
	"23 complete $blocks") echo right ;;
	"3 "* | "4 "* | "23 partial "*) echo "not complete" ;;
	*)
		echo "WRONG: $*: status $status, $found, $blocks blocks"
		mkdir -p "$build/load" && cp "$file.json" "$file.err" "$work"/*.said "$build/load"
		;;
	esac
}

# The program says at the end whether it is unharmed.
look_at() {
	mkfifo "$work/$1.input"
	: >"$work/$1.said"
	"$build/tests/live/victims/victim_busy" 2000 6 <"$work/$1.input" \
		>"$work/$1.said" &
	victim=$!
	exec 9>"$work/$1.input"
	until grep -q '^ready' "$work/$1.said"; do
		sleep 0.1
	done
	lost=$(sed -n 's/ blocks [0-9]* bytes$//p' "$work/$1.said")
	for _ in $(seq $((looks / 4))); do
		look "$1" $victim "$lost"
		look "$1" $victim "$lost" --max-pause=4ms
		look "$1" $victim "$lost" --stop=fork --max-pause=2s
		look "$1" $victim "$lost" --stop=read --max-pause=2s
	done
	exec 9>&-
	wait $victim
	tail -n 1 "$work/$1.said"
}

compile() {
	while ${CC:-cc} -O2 -I. -o "$work/compiled.$1" \
		tests/live/victims/victim_busy.c 2>/dev/null; do
		:
	done
}

for _ in $(seq "${LOAD_SPINNERS:-6}"); do
	sh -c 'while :; do :; done' &
	pids="$pids $!"
done
for i in $(seq "${LOAD_COMPILERS:-4}"); do
	compile "$i" &
	pids="$pids $!"
done
for i in $(seq "${LOAD_LOOKED_AT:-3}"); do
	look_at "$i" >"$work/$i.answers" &
	testers="$testers $!"
done
for i in $(seq "${LOAD_SELF:-4}"); do
	"$build/tests/live/pass/test_many_passes" >"$work/$i.self" 2>&1 &
	testers="$testers $!"
done
for tester in $testers; do
	wait "$tester" || fail "a program ended with status $?"
done
sort "$work"/*.answers | uniq -c
grep -h '^[0-9]*%\|:[EF]:' "$work"/*.self
! grep -q '^WRONG' "$work"/*.answers || fail "see $build/load"
[ "$(cat "$work"/*.answers | grep -c '^unharmed')" -eq "${LOAD_LOOKED_AT:-3}" ] ||
	fail "a program was harmed"
[ "$failures" -eq 0 ]

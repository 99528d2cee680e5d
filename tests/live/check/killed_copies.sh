#!/bin/sh
# Kill the copy of a process, or the process itself, while its memory is read:
# memory that can no longer be read must not be taken for zeros. Each answer is
# right, by reading the process instead of a second copy, or there is none.
# TESTS_KILLS is the number of kills.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_crowded
kills=${TESTS_KILLS:-12}
causes='was killed|ended while|there is no|has ended|target gone|max-pause'
killed=0

# kill_copy DELAY: the first child of $pid, DELAY seconds after it was seen.
kill_copy() {
	copy=
	while [ -z "$copy" ] && kill -0 "$checking" 2>/dev/null; do
		read -r copy <"/proc/$pid/task/$pid/children"
	done
	sleep "$1"
	kill -9 "$copy" && : >"$work/killed"
} 2>/dev/null

# answer STATUS...: the command's end is one of these, with the right words.
answer() {
	wait "$checking"
	status=$?
	case " $* " in
	*" $status "*) ;;
	*) fail "exit status $status: $(head -n 3 "$work/report")" ;;
	esac
	case $status in
	3) grep -qE "$causes" "$work/report" ||
		fail "no cause: $(head -n 3 "$work/report")"
		[ ! -e "$work/killed" ] || [ "$name" != --stop=auto ] ||
			! grep -q 'not checked: timed out: to read' "$work/report" ||
			fail "the copy is not named: $(head -n 3 "$work/report")" ;;
	23) grep -q 'in 5 unreachable' "$work/report" ||
		fail "not five: $(head -n 3 "$work/report")" ;;
	esac
}

hold "$victim" 192 0
hows='auto fork'
if is_filtered; then
	echo "SKIPPED: killed_copies: there are none under a seccomp filter"
	hows=
fi
for how in $hows; do
	name="--stop=$how"
	for i in $(seq "$kills"); do
		rm -f "$work/killed"
		"$command" "--stop=$how" -p "$pid" >"$work/report" 2>&1 &
		checking=$!
		if [ $((i % 2)) -eq 0 ]; then
			kill_copy 0 # before its memory is opened
		else
			kill_copy "0.0$((i * 7 % 60 / 10))$((i * 7 % 10))"
		fi
		[ ! -e "$work/killed" ] || killed=$((killed + 1))
		answer 23 3
	done
done
name=copies
[ -z "$hows" ] || [ $killed -gt 0 ] || fail "none was killed"
let_go || fail "the process was harmed"

name="a process that is read"
for i in $(seq "$kills"); do
	hold "$victim" 192 0
	"$command" --stop=read -p "$pid" >"$work/report" 2>&1 &
	checking=$!
	sleep "0.0$((i * 7 % 60 / 10))$((i * 7 % 10))"
	kill -9 "$pid"
	answer 23 3
	let_go 2>/dev/null
done
echo "$killed copies killed"
[ $failures -eq 0 ]

#!/bin/sh
# A process that shares the memory without being a thread (CLONE_VM): if only
# its registers refer to a block, library and command say that they could not
# check them; if that makes no difference, they say nothing.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable

if [ "$(uname -m)" != x86_64 ]; then
	echo "SKIPPED: sharer: written for x86-64"
	exit 77
fi

has_said() {
	[ -s "$work/said" ]
}

# KIND LINE STATUS PATTERN: what the program says, and the command of it.
play() {
	name=$1
	: >"$work/said"
	"$build/tests/live/victims/victim_sharer" "$1" >"$work/said" 2>"$work/log" &
	pid=$!
	pids=$pid
	await has_said
	grep -Eq "$2" "$work/said" || fail "it says $(cat "$work/said")"
	"$command" -q -p "$pid" >"$work/report" 2>&1
	status=$?
	[ $status -eq "$3" ] || fail "exit status $status, not $3"
	grep -Eq "$4" "$work/report" ||
		fail "no \"$4\" in $(cat "$work/report")"
	kill -9 $pid
	wait $pid 2>/dev/null
	pids=
}

play lost '^0 1 $' 23 '^ *1000 bytes in 1 unreachable'
if is_filtered; then
	echo "SKIPPED: sharer: kcmp() is not called under a seccomp filter"
	exit $((failures > 0))
fi
play held '^1 1 process [0-9]+ shares the memory' 4 'shares the memory'
play kept '^0 0 $' 0 '^ *0 bytes in 0 unreachable'

[ "$failures" -eq 0 ]

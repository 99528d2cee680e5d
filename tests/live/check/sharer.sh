#!/bin/sh
# A process that shares the memory without being a thread (CLONE_VM): if only
# its registers refer to a block, library and command say that they could not
# check them; if that makes no difference, they say nothing.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_sharer

if [ "$(uname -m)" != x86_64 ]; then
	echo "SKIPPED: sharer: written for x86-64"
	exit 77
fi

has_said() {
	[ -s "$work/said" ]
}

# KIND LINE STATUS PATTERN: what the program says, and the command of it, of a core
# that it writes, and of another one at its end.
play() {
	name=${contained:+contained }$1
	: >"$work/said"
	$contained "$victim" "$1" >"$work/said" 2>"$work/log" &
	pid=$!
	pids=$pid
	await has_said
	grep -Eq "$2" "$work/said" || fail "it says $(cat "$work/said")"
	$contained "$command" -q -p "$pid" >"$work/report" 2>&1
	judge $? "$3" "$4"
	name="$name core"
	$contained "$command" -q -p "$pid" --core-out "$work/core" >/dev/null 2>&1
	$contained "$command" -q --core "$work/core" >"$work/report" 2>&1
	judge $? "$3" "$4"
	kill -9 $pid
	wait $pid 2>/dev/null
	pids=
	# A process that survives the program for a moment makes the status 3.
	$contained "$command" -q -- "$victim" "$1" _exit >"$work/report" 2>&1
	judge "$3" "$3" "$4"
}

# IS STATUS PATTERN
judge() {
	[ "$1" -eq "$2" ] || fail "exit status $1, not $2"
	grep -Eq "$3" "$work/report" || fail "no \"$3\" in $(cat "$work/report")"
}

# The kernel compares no processes of two users for one of them.
contained=
if [ "$(id -u)" -eq 0 ] && may_trace_all; then
	play other '^1 1 process [0-9]+ shares the memory' 4 'shares the memory'
else
	echo "SKIPPED: sharer: another user's process needs root with CAP_SYS_PTRACE"
fi

# Docker's filter forbids kcmp().
for contained in '' "$build/tests/support/stop/no_ptrace -c"; do
	$contained true || {
		echo "SKIPPED: sharer: no seccomp filters here"
		continue
	}
	play lost '^0 1 $' 23 '^ *1000 bytes in 1 unreachable'
	play forked '^0 1 $' 23 '^ *1000 bytes in 1 unreachable'
	play held '^1 1 process [0-9]+ shares the memory' 4 'shares the memory'
	play led '^1 1 process [0-9]+ shares the memory' 4 'shares the memory'
	play kept '^0 0 $' 0 '^ *0 bytes in 0 unreachable'
done

[ "$failures" -eq 0 ]

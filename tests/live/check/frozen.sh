#!/bin/sh
# A process that its cgroup has frozen, as docker pause does: in version 2 it is
# read, without a copy, which it would have to make; in version 1 nothing is
# checked, and the reason says why. It is checked as any other when it is thawed.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
group='' checked=0

is_empty() {
	rmdir "$group" 2>/dev/null || [ ! -d "$group" ]
}

# A frozen process dies when it is thawed.
leave() {
	if [ -n "$group" ]; then
		freeze 0
		# shellcheck disable=SC2086 # words
		kill_ours $pids
		await is_empty
	fi
	finish
}
trap leave EXIT

# freeze 1 or 0
freeze() {
	if [ -e "$group/cgroup.freeze" ]; then
		echo "$1" >"$group/cgroup.freeze"
	elif [ "$1" -eq 1 ]; then
		echo FROZEN >"$group/freezer.state"
	else
		echo THAWED >"$group/freezer.state"
	fi
}

is_frozen() {
	grep -q '^frozen 1' "$group/cgroup.events" ||
		grep -q '^FROZEN' "$group/freezer.state"
}

# answers STATUS TEXT OPTION...
answers() {
	expected=$1
	text=$2
	shift 2
	"$command" "$@" >"$work/report" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "$*: exit status $status"
	has "$work/report" "$text"
}

# From the root group of the same hierarchy, whichever the process was in.
check_frozen() {
	group=$1/mu-frozen-$$
	mkdir "$group" 2>/dev/null || return
	if ! { [ -w "$group/cgroup.freeze" ] || [ -w "$group/freezer.state" ]; } ||
		! echo "$pid" >"$group/cgroup.procs"; then
		rmdir "$group"
		group=
		return
	fi 2>/dev/null
	name=$1
	checked=$((checked + 1))
	freeze 1
	await is_frozen || fail "it does not freeze"
	if [ -e "$group/cgroup.freeze" ]; then
		answers 23 ' (read)' -p "$pid"
		answers 3 'frozen by its cgroup' --stop=fork -p "$pid"
		answers 0 'frozen by its cgroup' --doctor="$pid"
	else
		answers 3 'frozen by its cgroup' -p "$pid"
		answers 3 'frozen by its cgroup' --doctor="$pid"
	fi
	freeze 0
	answers 23 'in 1 unreachable' -p "$pid"
	echo "$pid" >"$1/cgroup.procs"
	await is_empty
	group=
}

hold "$build/tests/live/victims/victim_plain"
for root in /sys/fs/cgroup/freezer /sys/fs/cgroup/unified /sys/fs/cgroup; do
	check_frozen "$root"
done
name=
let_go
if [ $checked -eq 0 ]; then
	echo "SKIPPED: frozen: no cgroup can be frozen here"
	exit 77
fi
[ "$failures" -eq 0 ]

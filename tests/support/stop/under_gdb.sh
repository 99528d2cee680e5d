#!/bin/sh
# Run a program under gdb, with every process that it starts. gdb 13 sometimes
# loses its way among many that end at once, or forgets the child of a vfork()
# for which the parent waits; then it is done once more.
#
# Usage: under_gdb.sh PROGRAM [ARG]...
status=126
gdb=
# gdb's tracees end with it (PTRACE_O_EXITKILL).
trap '[ -z "$gdb" ] || kill -9 "$gdb"; exit 143' HUP INT TERM

# True if all tracees are in a ptrace stop, which only gdb can end.
all_stopped() {
	# shellcheck disable=SC2013 # no blanks in them
	for traced in $(grep -lsx "TracerPid:	$gdb" /proc/[0-9]*/status); do
		cat "${traced%/status}"/task/*/status 2>/dev/null
	done | awk '
		$1 == "State:" && $2 == "t" { stopped = 1 }
		$1 == "State:" && $2 ~ /[RS]/ { alive = 1 }
		END { exit !stopped || alive }'
}

# Twenty seconds in that state: gdb hangs.
end_if_stuck() {
	looks=0
	while sleep 1 && kill -0 "$gdb" 2>/dev/null; do
		looks=$((looks + 1))
		all_stopped || looks=0
		[ $looks -lt 20 ] || kill -9 "$gdb"
	done
}

for try in 1 2 3 4 5; do
	gdb -batch -nx -x "$(dirname "$0")/under_gdb.py" --args "$@" &
	gdb=$!
	end_if_stuck &
	wait "$gdb"
	status=$?
	[ $status -eq 126 ] || [ $status -eq 137 ] || break
	echo "gdb lost its way, try $try"
done
exit $status

#!/bin/sh
# A process that executes itself during a check keeps its record locks. If a
# copy shared its table of descriptors then, they would be lost.
set -u
. tests/support/command/command.sh

name='record locks'
for stop in fork auto; do
	"$build/tests/live/victims/victim_exec_locks" "$work/locked" \
	    "${EXEC_LOCKS_MS:-4000}" >"$out" &
	pids=$!
	looks=0
	while kill -0 "$pids" 2>/dev/null; do
		"$command" --stop=$stop --timeout=500ms -p "$pids" \
		    >/dev/null 2>&1
		looks=$((looks + 1))
	done
	wait "$pids" || fail "$stop: status $?"
	pids=
	[ "$(cat "$out")" = "25 of 25" ] ||
		fail "$stop: $(cat "$out") locks held after $looks looks"
	[ $looks -ge 2 ] || fail "$stop: $looks looks only"
done
[ "$failures" -eq 0 ]

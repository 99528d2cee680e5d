#!/bin/sh
# Run a program under gdb, with every process that it starts. gdb 13 sometimes
# loses its way among many that end at once; then it is done once more.
#
# Usage: under_gdb.sh PROGRAM [ARG]...
status=126
gdb=
# It takes with it what it traces.
trap '[ -z "$gdb" ] || kill -9 "$gdb"; exit 143' HUP INT TERM
for try in 1 2 3 4 5; do
	gdb -batch -nx -x "$(dirname "$0")/under_gdb.py" --args "$@" &
	gdb=$!
	wait "$gdb"
	status=$?
	[ $status -eq 126 ] || break
	echo "gdb lost its way, try $try"
done
exit $status

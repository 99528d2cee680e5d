#!/bin/sh
# A group has the type that most of its blocks show, whichever is the first one:
# in text, JSON and a saved look, and its key stays that for a baseline, for
# --since and for --diff.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
program=$work/blanks
shown=$work/answer

if ! made "$program" gcc -g -O0 -w \
	tests/live/command/groups/blanks.c; then
	echo "SKIPPED: not compiled"
	exit 77
fi

# ends STATUS OPTION...
ends() {
	expected=$1
	shift
	"$command" -q "$@" </dev/null >"$work/answer" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "$*: status $status"
}

for blank in 0 1 39; do
	name="block $blank"
	hold "$program" $blank
	ends 23 -p "$pid"
	like "$work/answer" "× probably request, 1 block hangs on each"
	has "$work/answer" ".line"
	has_no "$work/answer" "× 216 bytes"
	ends 23 -p "$pid" --in-use --format=json
	has "$work/answer" '"key": "request {.line}"'
	fits_schema "$work/answer"
	cp "$work/answer" "$work/$blank.json"
	ends 23 -p "$pid" --save "$work/$blank.look"
	ends 23 "$work/$blank.look"
	like "$work/answer" "× probably request, 1 block hangs on each"
	if [ $blank -eq 0 ]; then
		ends 23 -p "$pid" --write-baseline "$work/known"
	fi
	ends 0 -p "$pid" --baseline "$work/known"
	ends 0 -p "$pid" --since "$work/$blank.look"
	let_go
done
name="--diff"
"$command" --diff "$work/0.look" "$work/39.look" >"$work/answer"
has_no "$work/answer" "216 bytes"
"$command" --diff "$work/0.json" "$work/1.json" >"$work/answer"
has_no "$work/answer" "216 bytes"
[ $failures -eq 0 ]

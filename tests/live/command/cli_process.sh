#!/bin/sh
# The command with -p: text and JSON, in files, on a terminal, with colour and
# without.
set -u
. tests/support/command/command.sh
victim=$build/tests/live/victims/victim_plain
unset NO_COLOR
TERM=xterm
export TERM

name='a process'
hold "$victim" 0
"$command" -q -p "$pid" >"$work/text" 2>"$err"
status=$?
[ $status -eq 23 ] || fail "status $status: $(cat "$err")"
has "$work/text" "Process $pid, "
has "$work/text" "bytes unreachable at "
"$command" -q --format=json --contents -o "$work/json" -p "$pid" 2>"$err"
[ "$(stat -c %a "$work/json")" = 600 ] || fail "mode of the file"
has "$work/json" "\"pid\": $pid,"
has "$work/json" '"contents": "'
fits_schema "$work/json"

name='what is short'
run 3 -p "$pid" --max-memory=1k
has "$err" "--max-memory"
has_no "$err" "raise RLIMIT_AS"
run 3 -p "$pid" --timeout=1ms
# How long it takes is not always known by then.
has "$err" "give it more time"
has_no "$err" "max-pause"

name='colour'
esc=$(printf '\033')
has_no "$work/text" "$esc"
"$command" -q --color=always -p "$pid" >"$work/text" 2>&1
has "$work/text" "${esc}[1m"
if has_terminals; then
	terminal() {
		script -qec "$1" /dev/null </dev/null >"$work/text" 2>&1
	}
	terminal "$command -p $pid"
	has "$work/text" "${esc}[1m"
	terminal "NO_COLOR=1 $command -q -p $pid"
	has_no "$work/text" "${esc}["
	terminal "TERM=dumb $command -q -p $pid"
	has_no "$work/text" "${esc}["
	terminal "$command -q --color=never -p $pid"
	has_no "$work/text" "${esc}["
else
	echo "SKIPPED: cli_process: no terminal can be made (script(1), /dev/pts)"
fi
let_go

[ "$failures" -eq 0 ]

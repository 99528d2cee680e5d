#!/bin/sh
# A baseline: known losses take a line, new ones fail, gone ones are named; by stack
# in a command, by shape in a process, with another address in each run.
set -u
. tests/support/command/look_program.sh
known=$work/known

name="a command"
ends 23 --backtrace --write-baseline "$known" -- "$work/program"
has "$known" "make(int) < lose(int) < main"
unlike "$known" "0x|[0-9]{4}"
[ "$(stat -c %a "$known")" = 644 ] || fail "mode $(stat -c %a "$known")"
ends 0 --backtrace --baseline "$known" -- "$work/program"
like "$work/answer" " in [0-9]+ blocks of 2 groups that .*known knows"
has_no "$work/answer" "pc 0"
has_no "$work/answer" "No longer"

name=new
grep -v "lose" "$known" >"$work/fewer"
ends 23 --backtrace --baseline "$work/fewer" -- "$work/program"
has "$work/answer" "(lose"
like "$work/answer" "of 1 group that .*fewer knows"

name=gone
cp "$known" "$work/more"
echo "free < of < it" >>"$work/more"
ends 0 --backtrace --baseline "$work/more" --write-baseline "$work/more" \
    -- "$work/program"
like "$work/answer" "^No longer lost, and in .*more still: free < of < it"
cmp -s "$known" "$work/more" || fail "the file did not shrink"

name="a process"
hold "$work/program"
ends 23 -p "$pid" --write-baseline "$work/shapes"
has "$work/shapes" "Session {.name, .data}"
ends 0 -p "$pid" --baseline "$work/shapes"
ends 23 -p "$pid" --save "$work/look"
let_go
hold "$work/program"
ends 0 -p "$pid" --baseline "$work/shapes"
ends 0 "$work/look" --baseline "$work/shapes"
ends 23 -p "$pid" --baseline "$known"
has "$work/answer" "No longer lost"
"$command" -q --format=json --baseline "$work/shapes" -p "$pid" >"$work/json"
has "$work/json" '"known": true'
fits_schema "$work/json"
ends 3 -p "$pid" --baseline "$work/none"
ends 3 -p "$pid" --write-baseline "$work/none/file"
ends 2 -p "$pid" --by=type --baseline "$work/shapes"
let_go
ends 3 -p "$pid" --write-baseline "$work/shapes"
has "$work/shapes" "Session"

[ $failures -eq 0 ]

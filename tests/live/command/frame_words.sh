#!/bin/sh
# --why says where a word of a stack lies from the begin of its frame, also
# without debug information: the offset is the one that the program tells.
set -u
. tests/support/command/command.sh

made "$work/frames" "${CC:-cc}" -O1 tests/live/command/frame_words/frames.c ||
	exit 1
hold "$work/frames"
read -r address offset <"$said"
"$command" -q --why="$address" --use-registers=no --max-pause=20s -p "$pid" \
    >"$work/text" 2>"$err" || fail "status $?: $(cat "$err")"
grep -q "'frames', ask(), +0x$offset\$" "$work/text" ||
	fail "not +0x$offset: $(cat "$work/text")"
let_go
[ $failures -eq 0 ]

#!/bin/sh
# Fields of types in units that have no language, as those in which dwz(1) puts
# what several units or files share: each has its own name behind an array.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
source=tests/live/command/declared/shared.c
shown=$work/answer

look() {
	hold "$1"
	grep ' 0x' "$said" >"$work/fields"
	while read -r field address; do
		"$command" -q --why="$address" -p "$pid" >"$work/answer" 2>&1
		has "$work/answer" " in ${1##*/} (server), +0x"
		like "$work/answer" "\+0x[0-9a-f]+ \.$(echo "$field" |
			sed 's/\[\]/[^ ]*/')\$"
	done <"$work/fields"
	[ "$(wc -l <"$work/fields")" -eq 4 ] || fail "not 4 fields"
	let_go
}

if ! command -v gcc >/dev/null; then
	echo "SKIPPED: no gcc"
	exit 77
fi
gcc -g -O0 -w -c -o "$work/server.o" "$source" || exit 1
gcc -g -o "$work/plain" "$work/server.o" || exit 1
name=plain look "$work/plain"

# The attribute gets a number that nothing knows.
gcc -g -O0 -w -dA -S -o "$work/server.s" "$source" || exit 1
sed 's/0x13\(.*(DW_AT_language)\)/0x3f00\1/' "$work/server.s" >"$work/silent.s"
! cmp -s "$work/server.s" "$work/silent.s" || fail "no language to remove"
gcc -o "$work/silent" "$work/silent.s" || exit 1
name="no language" look "$work/silent"

[ $failures -eq 0 ]

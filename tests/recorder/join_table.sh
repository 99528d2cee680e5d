#!/bin/sh
# A program that has a recorder's tables: a pass inside it, and the command at
# the stopped process, at a copy and at its core, report the same stacks.
set -u
. tests/support/script_setup.sh
source=tests/recorder/join_table.c
program=$build/tests/recorder/join_table
command=$build/memunreachable
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS MEMUNREACHABLE_MALLOC_DEBUG

# The report FILE: two stacks, the heavier one first.
check_text() {
	like "$1" 'and [0-9]+ similar unreachable bytes in [34] allocations'
	like "$1" "#00  pc .*join_table \(here\) .*join_table.c:$(line $source HERE)$"
	like "$1" "inlined into \(lose_second\) .*join_table.c:$(line $source SECOND)$"
	like "$1" "inlined into \(lose_all\) .*join_table.c:$(line $source OUTER)$"
	like "$1" "inlined into \(inner\) .*join_table.c:$(line $source INNER)$"
	like "$1" "inlined into \(lose_first\) .*join_table.c:$(line $source INTO)$"
	unlike "$1" '3000[0-9] bytes|no stacks'
	[ "$(grep -c 'bytes unreachable at' "$1")" -eq 2 ] ||
		fail "$(grep -c 'bytes unreachable at' "$1") entries"
	[ "$(sed -n 's/^ *#\([0-9]*\).*/\1/p' "$1" | tr '\n' ' ')" = \
	    '00 01 00 01 ' ] || fail "frames"
}

name='within'
LD_PRELOAD=$build/libmemunreachable.so MEMUNREACHABLE_OPTIONS=$given \
	"$program" log 2>"$work/log" || fail "status $?"
like "$work/log" 'and [0-9]+ similar unreachable bytes in [34] allocations'
like "$work/log" "#00  pc 0000[0-9a-f]*  $program"
unlike "$work/log" '3000[0-9] bytes|no stacks'

hold "$program"
for how in $(ways_to_look); do
	name="-p, $how"
	"$command" -q --by=block "--stop=$how" -p "$pid" >"$work/text"
	[ $? -eq 23 ] || fail "status"
	check_text "$work/text"
done

name='json'
"$command" -q --format=json -p "$pid" >"$work/json"
like "$work/json" '"inlined_into": \[\{"function"'
fits_schema "$work/json"

name='core'
if command -v gcore >/dev/null &&
    gcore -o "$work/core" "$pid" >/dev/null 2>&1; then
	"$command" -q --by=block --core "$work/core.$pid" >"$work/text"
	check_text "$work/text"
else
	echo "SKIPPED: join_table: no gcore"
fi
let_go
[ "$failures" -eq 0 ]

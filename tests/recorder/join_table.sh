#!/bin/sh
# A program that has a recorder's tables: a pass inside it, and the command at
# the stopped process, at a copy and at its core, report the same stacks.
set -u
. tests/support/script_setup.sh
source=tests/recorder/join_table.c
program=$build/tests/recorder/join_table
command=$build/memunreachable
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS MEMUNREACHABLE_MALLOC_DEBUG

# The line of SOURCE with a mark.
line() {
	grep -n "/\* $1 \*/" $source | cut -d: -f1
}

has() {
	grep -Eq -e "$2" "$1" || {
		fail "no \"$2\" in"
		sed 's/^/	/' "$1"
	}
}

has_no() {
	! grep -Eq -e "$2" "$1" || fail "\"$2\" is there"
}

# The report FILE: two stacks, the heavier one first.
check_text() {
	has "$1" 'and [0-9]+ similar unreachable bytes in [34] allocations'
	has "$1" "#00  pc .*join_table \(here\) .*join_table.c:$(line HERE)$"
	has "$1" "inlined into \(lose_second\) .*join_table.c:$(line SECOND)$"
	has "$1" "inlined into \(lose_all\) .*join_table.c:$(line OUTER)$"
	has "$1" "inlined into \(inner\) .*join_table.c:$(line INNER)$"
	has "$1" "inlined into \(lose_first\) .*join_table.c:$(line INTO)$"
	has_no "$1" '3000[0-9] bytes|no stacks'
	[ "$(grep -c 'bytes unreachable at' "$1")" -eq 2 ] ||
		fail "$(grep -c 'bytes unreachable at' "$1") entries"
	[ "$(sed -n 's/^ *#\([0-9]*\).*/\1/p' "$1" | tr '\n' ' ')" = \
	    '00 01 00 01 ' ] || fail "frames"
}

is_ready() {
	grep -q ready "$work/out"
}

name='within'
LD_PRELOAD=$build/libmemunreachable.so MEMUNREACHABLE_OPTIONS=$given \
	"$program" log 2>"$work/log" || fail "status $?"
has "$work/log" 'and [0-9]+ similar unreachable bytes in [34] allocations'
has "$work/log" "#00  pc 0000[0-9a-f]*  $program"
has_no "$work/log" '3000[0-9] bytes|no stacks'

mkfifo "$work/in"
"$program" <"$work/in" >"$work/out" &
pid=$!
pids=$pid
exec 9>"$work/in"
await is_ready || fail "not ready"
for how in fork read; do
	name="-p, $how"
	"$command" -q --by=block --stop=$how -p "$pid" >"$work/text"
	[ $? -eq 23 ] || fail "status"
	check_text "$work/text"
done

name='json'
"$command" -q --format=json -p "$pid" >"$work/json"
has "$work/json" '"inlined_into": \[\{"function"'
if command -v python3 >/dev/null; then
	python3 tests/support/command/json_schema.py \
	    lib/writers/memunreachable-report.schema.json "$work/json" \
	    >"$work/fits"
	case $? in
	0) ;;
	77) cat "$work/fits" ;;
	*) fail "not as the schema says: $(cat "$work/fits")" ;;
	esac
fi

name='core'
if command -v gcore >/dev/null &&
    gcore -o "$work/core" "$pid" >/dev/null 2>&1; then
	"$command" -q --by=block --core "$work/core.$pid" >"$work/text"
	check_text "$work/text"
else
	echo "SKIPPED: join_table: no gcore"
fi
exec 9>&-
wait "$pid"
[ "$failures" -eq 0 ]

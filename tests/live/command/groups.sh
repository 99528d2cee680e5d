#!/bin/sh
# Groups of lost blocks: the blocks that one function lost are one group, in a
# process, in a core, at the end of a command, and with a recorder; the totals
# of all groups add up.
set -u
. tests/support/script_setup.sh
sources=tests/live/command/groups
command=$build/memunreachable
program=$work/families

# NAME FAMILIES: see compare.py.
judge() {
	python3 $sources/compare.py "$said" "$work/report" "$2" \
	    >"$work/verdict" || fail "$1: $(cat "$work/verdict")"
	echo "$1: $(tail -n 1 "$work/verdict")"
	fits_schema "$work/report"
}

json="--format=json --limit=100000"

# The program runs; $1 is its name.
look() {
	for by in stack shape type module; do
		families=0
		case $by in stack | shape) families=1 ;; esac
		# shellcheck disable=SC2086
		"$command" -q $json --by=$by -p "$pid" >"$work/report"
		judge "$1, -p --by=$by" $families
	done
	if command -v gcore >/dev/null; then
		gcore -o "$work/core" "$pid" >/dev/null 2>&1
		# shellcheck disable=SC2086
		"$command" -q $json --core "$work/core.$pid" --exe "$program" \
		    >"$work/report"
		judge "$1, --core" 1
		rm -f "$work/core.$pid"
	else
		echo "SKIPPED: no gcore"
	fi
}

# What a reader sees: names, totals, what hangs, and what the limit cut.
read_text() {
	"$command" -q -p "$pid" >"$work/text"
	grep -q '^  16.4 KiB in 300 blocks: 300 × 56 bytes$' "$work/text" ||
		fail "no group of 300: $(cat "$work/text")"
	grep -q 'in 50 blocks: 10 × probably session, 4 blocks hang on each$' \
	    "$work/text" || fail "no sessions: $(cat "$work/text")"
	grep -q '^   +0x38  1 × 504 bytes$' "$work/text" ||
		fail "no buffers: $(cat "$work/text")"
	! grep -q SHELL "$work/text" || fail "contents are shown"
	"$command" -q --contents -p "$pid" >"$work/text"
	grep -q '"SHELL=/' "$work/text" || fail "no text: $(cat "$work/text")"
	"$command" -q --limit=3 -p "$pid" >"$work/text"
	[ "$(grep -c ' in [0-9]* blocks: [0-9]* × ' "$work/text")" -eq 3 ] ||
		fail "not 3 groups: $(cat "$work/text")"
	grep -q '^  \.\.\. and [0-9]* more groups, [0-9.]* [KM]iB$' \
	    "$work/text" || fail "no rest: $(cat "$work/text")"
	"$command" -q --by=block -p "$pid" >"$work/text"
	! grep -q ' × ' "$work/text" || fail "groups with --by=block"
	[ "$(grep -c '^  56 bytes unreachable at ' "$work/text")" -le 100 ] ||
		fail "more than 100 entries"
}

# Fields by what is declared, and types of what hangs there.
read_fields() {
	"$command" -q -p "$pid" >"$work/text"
	for row in 'in 99 blocks: 10 × Session, 89 blocks hang on them' \
	    '+0x10 .plain  1 × probably Plain' \
	    '+0x38 .orders  1 × Plain\*\[\]' '\[\]  4 × probably Plain' \
	    '+0x0 .next  4 × probably node, which hang'; do
		grep -q "$row\$\|$row " "$work/text" ||
			fail "no $row: $(cat "$work/text")"
	done
	"$command" -q --format=json -p "$pid" >"$work/report"
	grep -q '"field": "orders\[\]", "type": "Plain", "type_source": "dwarf", "certain": false' \
	    "$work/report" || fail "no field: $(cat "$work/report")"
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
for compiler in "g++ -O0" "g++ -O2 -s" "clang++ -O1"; do
	if ! command -v "${compiler%% *}" >/dev/null; then
		echo "SKIPPED: no ${compiler%% *}"
		continue
	fi
	# shellcheck disable=SC2086
	made "$program" $compiler -std=c++17 -D_GNU_SOURCE -I. \
	    $sources/families.cc 2>"$work/errors" ||
		fail "not compiled: $(cat "$work/errors")"
	hold "$program"
	look "$compiler"
	[ "$compiler" != "g++ -O2 -s" ] || read_text
	let_go
done
if made "$work/fields" g++ -g -O1 -std=c++17 -D_GNU_SOURCE -I. \
    $sources/fields.cc 2>"$work/errors"; then
	hold "$work/fields"
	read_fields
	let_go
else
	echo "SKIPPED: no g++: $(head -n 1 "$work/errors")"
fi
if made "$work/stale" g++ -g -O1 -std=c++17 -D_GNU_SOURCE -I. \
    $sources/stale.cc 2>"$work/errors"; then
	hold "$work/stale"
	"$command" -q -p "$pid" >"$work/text"
	grep -q '× Session, 3 blocks hang on' "$work/text" ||
		fail "no sessions: $(cat "$work/text")"
	! grep -qE ' × (Plain|Weights)' "$work/text" ||
		fail "certain, and wrong: $(cat "$work/text")"
	"$command" -q --by=type -p "$pid" >"$work/text"
	grep -q ': 20 × probably Large$' "$work/text" ||
		fail "of different sizes: $(cat "$work/text")"
	let_go
fi
if made "$work/cycles" g++ -g -O0 -std=c++17 -D_GNU_SOURCE -I. \
    $sources/cycles.cc 2>"$work/errors"; then
	hold "$work/cycles"
	"$command" -q -p "$pid" >"$work/text"
	{ grep -q 'a cycle: Node.next → Node.next$' "$work/text" &&
		grep -qE 'a cycle: (Child.owner → Parent.child|Parent.child → Child.owner)$' \
		    "$work/text" &&
		grep -q 'a cycle: Peer.other → Peer.other$' "$work/text" &&
		[ "$(grep -c 'a cycle' "$work/text")" -eq 3 ]; } ||
		fail "not three cycles: $(cat "$work/text")"
	"$command" -q --format=json -p "$pid" >"$work/report"
	grep -q '"cycle": "Node.next -> Node.next"' "$work/report" ||
		fail "no cycle: $(cat "$work/report")"
	fits_schema "$work/report"
	let_go
fi
# shellcheck disable=SC2086
"$command" $json -o "$work/report" -- "$program" ends >"$said"
judge "--" 1
# Each family was allocated by a separate function, except the pairs.
# shellcheck disable=SC2086
"$command" $json --backtrace -o "$work/report" -- "$program" ends >"$said"
judge "-- with stacks" 0
# shellcheck disable=SC2086
"$command" $json --backtrace --by=shape -o "$work/report" -- \
    "$program" ends >"$said"
judge "-- with stacks, by shape" 0

[ $failures -eq 0 ] || exit 1

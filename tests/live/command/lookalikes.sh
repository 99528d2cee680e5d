#!/bin/sh
# No certain name is wrong in programs whose structures look alike and whose
# pointers are old, cast, of unions or of void; and there are certain names.
# LOOKALIKES="1 2 3" chooses the programs, by seed.
set -u
. tests/support/script_setup.sh
sources=tests/live/command/declared
command=$build/memunreachable
certain=0 checked=0
top=$PWD

# SEED COMPILER FLAG...
play() {
	name="$2 $3, seed $1"
	python3 $sources/hostile.py "$1" >"$work/program.c"
	shift
	if ! (cd "$work" && made program "$@" -g -w -D_GNU_SOURCE -I"$top" \
	    -fdebug-prefix-map="$work=." program.c) 2>"$work/errors"; then
		fail "not compiled: $(head -n 3 "$work/errors")"
		return
	fi
	checked=$((checked + 1))
	hold "$work/program"
	"$command" -q --format=json '--why=1000:*' --in-use --timeout=250 \
	    -p "$pid" >"$work/report"
	python3 $sources/compare.py "$said" "$work/report" 0 0 \
	    >"$work/verdict" || fail "$(grep certain "$work/verdict")"
	certain=$((certain + $(sed -n '$s/.*; \([0-9]*\) certain names$/\1/p' \
	    "$work/verdict")))
	let_go
}

if ! command -v python3 >/dev/null || ! command -v gcc >/dev/null; then
	echo "SKIPPED: no python3 or no gcc"
	exit 77
fi
for seed in ${LOOKALIKES:-9 15 21 33 34 40 43 49 63 74}; do
	play "$seed" gcc -O$((seed % 3))
done
echo "$checked programs: $certain certain names"
[ $certain -ge $((3 * checked)) ] || fail "only $certain certain names"

[ $failures -eq 0 ] || exit 1

#!/bin/sh
# The verdict of memunreachable watch names what a variable holds that grows, by
# path, and how many elements come in an hour; and JSON tells the same. Where
# nothing is declared it says where in a module, or which thread.
set -u
. tests/support/command/watch_program.sh
source=tests/live/command/watch_held

# grows PATH SHARE: it is named, with at least this share, in percent.
grows() {
	python3 - "$out" "$@" <<'END' || fail "$1: $(tail -1 "$out")"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
verdict = lines.pop()
assert verdict["verdict"] == "growth", verdict
held = {one["name"]: one for one in verdict["growing"] if one["kind"] == "held"}
one = held[sys.argv[2]]
assert one["share"] >= int(sys.argv[3]) / 100, one
# All elements that came, by the hour, but for times that are not the same.
hours = verdict["span_seconds"] / 3600
rate = one["elements_per_hour"] * hours
assert 225 <= rate <= 900, (rate, one)
# What an element has is no collection of its own.
assert not any(name.startswith(sys.argv[2] + ".") for name in held), held
END
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
for compiler in "gcc -g" "gcc -g -O2"; do
	name="c, $compiler"
	$compiler -o "$work/cache" $source/cache.c || fail "not compiled"
	watch_program "$work/cache"
	grows g_cache.sessions 60
	grows 'g_cache.slots[]' 5
done
for compiler in "g++ -g -O1" "clang++ -g -O1"; do
	name="c++, $compiler"
	if ! command -v "${compiler%% *}" >/dev/null; then
		echo "SKIPPED: no ${compiler%% *}"
		continue
	fi
	$compiler -o "$work/cache" $source/cache.cc || fail "not compiled"
	watch_program "$work/cache"
	grows g_cache.sessions 90
done
name="local"
gcc -g -o "$work/local" $source/plain.c || fail "not compiled"
watch_program "$work/local"
grows 'probably main(): head' 90
name="stripped, local"
strip "$work/local"
watch_program "$work/local"
grows "probably the stack of thread 'local'" 90
name="symbols"
gcc -DSTATIC -o "$work/static" $source/plain.c || fail "not compiled"
watch_program "$work/static"
grows head 90
name="stripped"
offset=$(nm "$work/static" | awk '$3 == "head" { sub(/^0*/, "", $1); print $1 }')
strip "$work/static"
watch_program "$work/static"
grows "static+0x$offset" 90

[ "$failures" -eq 0 ]

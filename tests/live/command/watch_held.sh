#!/bin/sh
# The verdict of memunreachable watch names what a variable holds that grows, by
# path, and how many elements come in an hour; and JSON tells the same. Where
# nothing is declared it says where in a module, or which thread.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
source=tests/live/command/watch_held

stepped() {
	[ "$(grep -c 'done' "$said")" -gt "$steps" ]
}

lines_of() {
	[ "$(wc -l <"$out")" -ge "$1" ]
}

# watch_program PROGRAM: ten looks, and 50 more elements before each but the
# first.
watch_program() {
	hold "$1"
	# With the lines of the watch before, this one would be signalled before it
	# handles any: the shell that becomes it may not even have run yet.
	rm -f "$out"
	"$command" watch -q -p "$pid" --every=1d --format=json >"$out" \
		2>"$work/err" 9>&- &
	watch=$!
	pids="$pids $watch"
	await lines_of 1 || {
		kill -INT $watch
		wait $watch
		fail "no look: status $?: $(cat "$work/err")"
		let_go
		return
	}
	for n in 2 3 4 5 6 7 8 9 10; do
		steps=$(grep -c 'done' "$said")
		echo step >&9
		await stepped
		kill -USR1 "$watch"
		await lines_of $n || fail "no look $n"
	done
	kill -INT $watch
	wait $watch
	let_go
}

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
	name="c, $compiler" out=$work/out
	$compiler -o "$work/cache" $source/cache.c || fail "not compiled"
	watch_program "$work/cache"
	grows g_cache.sessions 60
	grows 'g_cache.slots[]' 5
done
for compiler in "g++ -g -O1" "clang++ -g -O1"; do
	name="c++, $compiler" out=$work/out
	if ! command -v "${compiler%% *}" >/dev/null; then
		echo "SKIPPED: no ${compiler%% *}"
		continue
	fi
	$compiler -o "$work/cache" $source/cache.cc || fail "not compiled"
	watch_program "$work/cache"
	grows g_cache.sessions 90
done
name="local" out=$work/out
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

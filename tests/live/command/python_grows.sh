#!/bin/sh
# The verdict of memunreachable watch names the containers of CPython that grow,
# by the path from a module, with the elements that came: with objects in malloc's
# blocks and in CPython's own arenas. What is steady, a ring and a sawtooth are
# not named. PYTHONS="PATH..." chooses interpreters.
set -u
. tests/support/command/watch_program.sh
program=tests/live/command/python_grows/program.py

names_all() {
	python3 - "$out" <<'END' || fail "$(tail -1 "$out")"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
verdict = lines.pop()
assert verdict["verdict"] == "growth", verdict
held = {one["name"]: one for one in verdict["growing"] if one["kind"] == "held"}
planted = {"__main__." + name for name in (
    "sessions", "names", "events", "Registry.instances", "lookup.<dict>",
    "slotted.items", "add.__closure__[].<list>", 'registry.cache["users"]')}
# Before 3.11 an old word of the module _collections leads to blocks of deques.
held.pop("freeblocks", None)
assert set(held) == planted, set(held) ^ planted
for one in held.values():
    # All elements that came, by the hour, but for times that are not the same.
    came = one["elements_per_hour"] * verdict["span_seconds"] / 3600
    assert 900 <= came <= 3600, (came, one)
assert sum(one["share"] for one in held.values()) > 0.6, held
END
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
for python in ${PYTHONS:-/usr/bin/python3 \
    "$(python3 -c 'import sys; print(sys.executable)')"}; do
	for malloc in malloc pymalloc; do
		name="$python, $malloc"
		watch_program env PYTHONMALLOC=$malloc "$python" $program
		names_all
		# Types take longer than the looks are apart.
		name="$python, $malloc, few looks at many elements"
		hold env PYTHONMALLOC=$malloc "$python" ${program%/*}/large.py
		"$command" watch -q -p "$pid" --every=1s --count=8 \
			>"$work/text" 2>&1 9>&-
		grep -q "^growth: .* in __main__.sessions, +[0-9]* elements/h" \
			"$work/text" || fail "$(cat "$work/text")"
		let_go
	done
done

[ $failures -eq 0 ]

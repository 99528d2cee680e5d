#!/bin/sh
# memunreachable watch --stale: what has not changed is named, of planted objects
# at least 80 % of its bytes, and what has changed, or that a new pointer leads
# to, is not: under 10 %.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
program=$build/tests/live/victims/victim_stale

lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

stepped() {
	[ "$(grep -c 'done' "$said")" -gt "$steps" ]
}

# A step, a second in which nothing changes, and look number $1.
step_and_look() {
	steps=$(grep -c 'done' "$said")
	echo step >&9
	await stepped
	sleep 1.1
	kill -USR1 "$watch"
	await lines_of "$out" "$1" || fail "no look $1"
}

name=stale out=$work/out
hold "$program"
"$command" watch -q -p "$pid" --every=1d --stale=2s --format=json \
	>"$out" 2>"$work/err" 9>&- &
watch=$!
pids="$pids $watch"
await lines_of "$out" 1 || fail "no look"
step_and_look 2
step_and_look 3
step_and_look 4
kill -INT $watch
wait $watch
if command -v python3 >/dev/null; then
	python3 - "$out" <<'END' || fail "$(tail -n 1 "$out")"
import json, sys
*looks, verdict = [json.loads(line) for line in open(sys.argv[1])]
assert looks[0]["stale_bytes"] == 0, looks
assert len(looks) == 4 and looks[3]["stale_bytes"] > 0, looks
stale = {one["name"]: one for one in verdict["stale"]}
def blocks(name):
    return stale.get(name, {"blocks": 0})["blocks"]
assert 800 <= blocks("probably session") <= 1100, stale
# The texts of the other sessions are parts of what changes.
assert 800 <= blocks("probably char[]") <= 1100, stale
assert blocks("probably counter") <= 200 and blocks("probably shared") <= 200, stale
# What was made before the last two seconds, and holds the shared, is as it was.
assert blocks("probably holder") <= 4200, stale
assert all(one["seconds"] >= 2 for one in stale.values()), stale
planted = 1000 * 104 + 1000 * 200 + (4 << 20)
found = sum(one["bytes"] for name, one in stale.items() if name != "probably holder")
assert .8 * planted <= found <= 1.1 * planted, (found, planted, stale)
END
else
	echo "SKIPPED: no python3"
fi

# In words; and another process begins anew.
name=words out=$work/words
"$command" watch -q -p "$pid" --every=1s --count=3 --stale=1s >"$out"
like "$out" '^not changed for [0-9.]+ s: 4[.][0-9] MiB in 20[0-9]+ blocks: probably char\[\]$'
like "$out" '^not changed for [0-9.]+ s: .* in 2000 blocks: probably session$'
let_go

[ "$failures" -eq 0 ]

#!/bin/sh
# memunreachable watch --stale: of six programs that no longer use some of their
# memory at least 80 % of its bytes are named, and under 10 % of what is named is
# in use: but for a table that is read and never written, which no look can tell
# from one that is not read.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable

command -v python3 >/dev/null || {
	echo "SKIPPED: no python3"
	exit 0
}

lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

stepped() {
	[ "$(grep -c 'done' "$said")" -ge "$1" ]
}

# look NUMBER: after a step, and a second in which nothing changes.
look() {
	echo step >&9
	await stepped $(($1 - 1)) || fail "no step $1"
	sleep 1.1
	kill -USR1 "$watch"
	await lines_of "$out" "$1" || fail "no look $1"
}

# play KIND MOST: at most MOST percent of what is named is in use.
play() {
	name=$1 work=$work/$1
	mkdir "$work"
	said=$work/said out=$work/out
	hold "$build/tests/live/victims/victim_idle" "$1"
	"$command" watch -q -p "$pid" --every=1d --stale=2s --format=json \
		>"$out" 2>"$work/err" 9>&- &
	watch=$!
	await lines_of "$out" 1 || fail "no look"
	look 2
	look 3
	look 4
	kill -INT "$watch"
	wait "$watch"
	let_go
	python3 - "$said" "$out" "$2" <<'END' || fail "$(tail -n 1 "$out")"
import json, sys
said, out, most = sys.argv[1:]
idle = {}
for line in open(said):
    if line == "ready\n":
        break
    name, bytes, _ = line.split()
    idle[name] = int(bytes)
stale = json.loads(open(out).readlines()[-1])["stale"]
named = {one["name"].replace("probably ", ""): one["bytes"] for one in stale}
right = sum(min(bytes, idle.get(name, 0)) for name, bytes in named.items())
found = f"{right} of {idle}: {named}"
assert all(one["seconds"] >= 2 for one in stale), stale
assert right >= .8 * sum(idle.values()), found
assert sum(named.values()) - right <= int(most) / 100 * sum(named.values()), found
END
	exit "$failures"
}

plays=''
for kind in cache sessions ring pages warm; do
	(play $kind 10) &
	plays="$plays $!"
done
(play table 60) &
plays="$plays $!"
for play in $plays; do
	wait "$play" || failures=$((failures + 1))
done

[ "$failures" -eq 0 ]

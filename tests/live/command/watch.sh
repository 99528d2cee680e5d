#!/bin/sh
# memunreachable watch: its lines, its end and exit status, a program that begins
# anew, the files of --csv and --prometheus. The verdicts are judged by
# live/check/test_check_watch.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_watched

# A copy has a name that no other process has.
program=$work/watched$$
cp "$victim" "$program" || exit 1

step() {
	steps=$(grep -c 'done' "$said")
	echo step >&9
	await stepped
}

stepped() {
	[ "$(grep -c 'done' "$said")" -gt "$steps" ]
}

lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# Look now, and wait for line $2 of file $1.
look() {
	kill -USR1 "$watch"
	await lines_of "$1" "$2" || fail "no line $2"
}

name=count out=$work/count.out
hold "$program" idle
"$command" watch -p "$pid" --every=10ms --count=5 >"$out" 2>"$work/err"
status=$?
[ $status -eq 0 ] || fail "exit status $status"
like "$out" '^time +RSS +PSS +in use +held free +lost +new lost +stop$'
[ "$(grep -Ec '^[0-9:]{8} ' "$out")" -eq 5 ] || fail "$(cat "$out")"
like "$out" '^steady: .* nothing lost$'
like "$work/err" 'stops are to be at most 1 % of the time'

name=duration out=$work/duration.out
"$command" watch -q -p "$pid" --every=50ms --duration=100ms >"$out"
status=$?
case $status in
0 | 4) ;;
*) fail "exit status $status" ;;
esac
like "$out" '^(steady|too few looks): '

# All stops together, against the time from the first look to the last.
name=stops out=$work/stops.out
"$command" watch -q -p "$pid" --every=1ms --count=20 --format=json \
	>"$out" 2>"$work/err"
if command -v python3 >/dev/null; then
	python3 - "$out" <<'END' || fail "stops: $(cat "$out")"
import datetime, json, sys
looks = [json.loads(line) for line in open(sys.argv[1])]
verdict = looks.pop()
assert verdict["verdict"] == "steady", verdict
assert len(looks) == 20, len(looks)
def when(look):
    return datetime.datetime.strptime(look["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
took = (when(looks[-1]) - when(looks[0])).total_seconds()
stops = sum(look["pause_ns"] for look in looks) / 1e9
# The last stop is expected to be no longer than the longest before.
last = looks[-1]["pause_ns"] / 1e9
assert stops - last <= took / 100, (stops, last, took)
END
else
	echo "SKIPPED: no python3"
fi
let_go

name=terminated out=$work/terminated.out
hold "$program" leak_one
step
"$command" watch -q -p "$pid" --every=1d --csv "$work/csv" \
	--prometheus "$work/prom" --html "$work/page.html" -o "$out" 9>&- &
watch=$!
pids="$pids $watch"
await lines_of "$out" 3 || fail "no look"
await grep -q "</html>" "$work/page.html" || fail "no page"
like "$work/page.html" 'http-equiv="refresh" content="[0-9]+"'
has "$work/page.html" "So far: too few looks"
for n in 4 5 6 7 8; do
	step
	look "$out" $n
done
cp "$work/prom" "$work/prom.last"
kill -TERM $watch
wait $watch
status=$?
[ $status -eq 23 ] || fail "exit status $status"
like "$out" '^leak: \+[0-9.]+ [KMGT]?i?B?(bytes)?/h lost, 100 % of it blocks of 40 bytes$'
like "$out" ' 240 bytes  \+40 bytes '
[ "$(stat -c %a "$out" "$work/csv" "$work/prom" | tr '\n' ' ')" = \
    "600 600 644 " ] || fail "modes: $(ls -l "$work")"
[ "$(sed -n '$p' "$work/csv" | cut -d, -f6,8)" = 240,40 ] ||
	fail "$(cat "$work/csv")"
[ "$(wc -l <"$work/csv")" -eq 7 ] || fail "$(cat "$work/csv")"
has "$work/prom" "memunreachable_lost_bytes{pid=\"$pid\",program=\"watched$$\"} 240"
has "$work/prom" "memunreachable_lost_blocks{pid=\"$pid\",program=\"watched$$\"} 6"
ls "$work"/prom.?????? >/dev/null 2>&1 && fail "a file is left: $(ls "$work")"
# Strictly: HELP, TYPE, one sample, of the same metric, and nothing else.
awk '
	NR % 3 == 1 { ok = /^# HELP [a-z_]+ [A-Z].*\.$/; metric = $3 }
	NR % 3 == 2 { ok = $0 == "# TYPE " metric " gauge" }
	NR % 3 == 0 { ok = index($0, metric "{pid=\"") == 1 &&
	    /^[a-z_]+\{pid="[0-9]+",program="[^"\\]*"\} [0-9.e+-]+$/ }
	!ok { print; bad = 1 }
	END { exit bad || NR % 3 != 0 || NR < 12 }' "$work/prom" ||
	fail "not the text format: $(cat "$work/prom")"
if command -v promtool >/dev/null; then
	promtool check metrics <"$work/prom" >"$work/promtool" 2>&1 ||
		fail "promtool: $(cat "$work/promtool")"
else
	echo "SKIPPED: promtool: not installed"
fi
let_go

# The page at the end: whole, with a curve for each group, and no longer renewed.
name=page
has "$work/page.html" "watched$$, process $pid</h1>"
like "$work/page.html" '<pre>leak: .*, 100 % of it blocks of 40 bytes'
has_no "$work/page.html" 'http-equiv="refresh"'
[ "$(grep -Ec '<polygon class="(lost|live|free)"' "$work/page.html")" -eq 3 ] ||
	fail "not three areas"
[ "$(grep -c '<td>lost</td>' "$work/page.html")" -eq 1 ] || fail "not one lost group"
like "$work/page.html" '<span><i class="lost"></i>lost 240 bytes</span>'
[ "$(stat -c %a "$work/page.html")" = 600 ] || fail "mode of the page"
ls "$work"/page.html.?????? >/dev/null 2>&1 && fail "a file is left: $(ls "$work")"
if command -v python3 >/dev/null; then
	python3 - "$work/page.html" <<'END' || fail "not well formed"
import base64, hashlib, re, sys
import xml.etree.ElementTree as tree
page = open(sys.argv[1], encoding="utf-8").read()
script = re.search(r"<script>(.*)</script>", page, re.S).group(1)
digest = hashlib.sha256(script.encode()).digest()
assert "'sha256-%s'" % base64.b64encode(digest).decode() in page
page = page.replace(script, "")
page = re.sub(r"<(meta[^>]*)>", r"<\1/>", page.replace("<!DOCTYPE html>", ""))
svg = tree.fromstring(page).iter("polyline")
points = [shape.get("points").split() for shape in svg]
assert len(points) >= 2 and all(len(one) == 6 for one in points), points
last = [tuple(map(float, point.split(","))) for point in points[1]]
assert [y for _, y in last] == sorted((y for _, y in last), reverse=True), last
END
else
	echo "SKIPPED: no python3"
fi
# In a subshell: it has another look().
(
	. tests/support/command/browser.sh
	[ -n "$browser" ] || exit 77
	look "$work/page.html" >"$work/refused"
	[ ! -s "$work/refused" ]
)
case $? in
0) has "$work/dom" "<polyline" ;;
77) echo "SKIPPED: no chromium" ;;
*) fail "a browser refuses: $(cat "$work/refused")" ;;
esac

# The same name, another process: marked, and the worse verdict counts.
name=restart out=$work/restart.out
hold "$program" leak_one
first=$pid
step
"$command" watch -q -p "watched$$" --every=1d --format=json >"$out" \
	2>"$work/err" 9>&- &
watch=$!
pids="$pids $watch"
await lines_of "$out" 1 || fail "no look"
for n in 2 3 4 5 6; do
	step
	look "$out" $n
done
let_go
hold "$program" idle
await look "$out" 7
kill -INT $watch
wait $watch
status=$?
[ $status -eq 23 ] || fail "exit status $status"
[ "$(grep -c '"restarted": true' "$out")" -eq 1 ] ||
	fail "$(cat "$out")"
sed -n 7p "$out" | grep "\"pid\": $pid" | grep -q '"restarted": true' ||
	fail "the look at process $pid after $first: $(cat "$out")"
like "$out" '"verdict": "leak"'
let_go

# The end of the process is the end of the watch.
name=ended out=$work/ended.out
hold "$program" idle
"$command" watch -q -p "$pid" --every=1d >"$out" 9>&- &
watch=$!
pids="$pids $watch"
await lines_of "$out" 3
let_go
wait $watch
status=$?
[ $status -eq 4 ] || fail "exit status $status"
like "$out" '^too few looks: 1 checked the heap, and a verdict needs 4$'

# A round is a step of the program: each loses 20 blocks and their texts.
name=rounds out=$work/rounds.out
hold "$program" leak_typed
cat >"$work/step" <<'END'
steps=$(grep -c 'done' "$1")
echo step >"$2"
until [ "$(grep -c 'done' "$1")" -gt "$steps" ]; do sleep 0.05; done
echo stepped
END
"$command" watch -q -p "$pid" --rounds=2 -o "$out" \
	--round="sh '$work/step' '$said' '$work/held_by'" \
	>"$work/mine" 2>"$work/err" 9>&-
status=$?
[ $status -eq 23 ] || fail "exit status $status"
[ "$(grep -c stepped "$work/err")" -eq 2 ] || fail "$(cat "$work/err")"
[ ! -s "$work/mine" ] || fail "$(cat "$work/mine")"
like "$out" '^2 rounds left behind:$'
like "$out" '^  lost  40 blocks, 1.9 KiB in each round: '
like "$out" '^leak: '
"$command" watch -p "$pid" --rounds=3 --round='exit 7' -o "$out" 2>"$work/err"
status=$?
[ $status -eq 0 ] || fail "exit status $status"
like "$out" '^3 rounds left behind nothing$'
like "$work/err" 'round 3 ended by exit status 7$'
"$command" watch -q -p "$pid" --count=2 --every=20ms >/dev/full 2>"$work/err"
status=$?
[ $status -eq 3 ] || fail "exit status $status"
like "$work/err" 'could not be written: No space left on device$'
"$command" watch -p "$pid" --rounds=3 --round="kill -9 $pid" -o "$out" \
	2>"$work/err" 9>&-
status=$?
[ $status -eq 4 ] || fail "exit status $status"
like "$out" '^no round was looked at$'
like "$work/err" "process $pid has ended\$"
let_go

name=command out=$work/command.out
"$command" watch -q --every=1d -o "$out" -- sh -c 'echo mine; exit 5' \
	>"$work/mine" 2>"$work/err"
status=$?
[ $status -eq 3 ] || [ $status -eq 4 ] || fail "exit status $status"
[ "$(cat "$work/mine")" = mine ] || fail "its output: $(cat "$work/mine")"
"$command" watch -q --every=20ms --count=12 -- sleep 1000 2>"$work/err"
status=$?
[ $status -eq 0 ] || fail "exit status $status: $(cat "$work/err")"
like "$work/err" '^steady: '
"$command" watch -q -- "$work/nothing" 2>"$work/err"
status=$?
[ $status -eq 3 ] || fail "exit status $status"
like "$work/err" 'cannot be run: No such file'

name=refused out=$work/refused.out
"$command" watch -p "nothing$$" >"$out" 2>"$work/err"
status=$?
[ $status -eq 3 ] || fail "exit status $status"
like "$work/err" "no process has the name nothing$$"
"$command" watch >"$out" 2>"$work/err"
status=$?
[ $status -eq 2 ] || fail "exit status $status"
like "$work/err" 'give -p PID, -p NAME, --unit=NAME or -- COMMAND'

[ "$failures" -eq 0 ]

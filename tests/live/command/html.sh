#!/bin/sh
# The page of --format=html, in a browser: no script error, no refusal by the
# content policy, rows that sort, open and are found, and 100,000 groups.
set -u
. tests/support/script_setup.sh
. tests/support/command/browser.sh
command=$build/memunreachable
hash_of() {
	sed -n "/<$1>/,/<\/$1>/p" "$work/page.html" | python3 -c '
import base64, hashlib, re, sys
text = re.findall("<%s>(.*?)</%s>" % (sys.argv[1], sys.argv[1]),
                  sys.stdin.read(), re.S)[-1]
print(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())' "$1"
}

if ! command -v python3 >/dev/null || ! command -v g++ >/dev/null; then
	echo "SKIPPED: no python3 or no g++"
	exit 77
fi
made "$work/program<b>&" g++ -g -O1 -std=c++17 -D_GNU_SOURCE -I. \
    tests/live/command/groups/fields.cc || fail "not compiled"
hold "$work/program<b>&"
"$command" --format=html --contents -o "$work/page.html" -p "$pid"
[ $? -eq 23 ] || fail "status"
let_go

grep -q "style-src 'sha256-$(hash_of style)'; script-src 'sha256-$(hash_of script)'" \
    "$work/page.html" || fail "the policy has other hashes"
! grep -qE 'https?:|//[a-z]+\.' "$work/page.html" || fail "it needs a network"
! grep -q '<b>&' "$work/page.html" || fail "a name is not escaped"
if [ -z "$browser" ]; then
	echo "SKIPPED: no chromium: the page was not looked at"
	[ $failures -eq 0 ] || exit 1
	exit 77
fi
look "$work/page.html"
grep -q '<td>Session</td>' "$work/dom" || fail "no group: $(cat "$work/dom")"
grep -q '<td>probably node</td>' "$work/dom" || fail "no second group"

# What a reader does, by a script beside the page's; and more groups.
python3 - "$work/page.html" "$work" <<'END'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = re.sub(r"<meta http-equiv[^>]*>", "", page)
acts = """<script>
function rows() { return document.querySelectorAll("#groups tr.row"); }
function type(i) { return rows()[i].cells[3].textContent; }
function press(i) { document.querySelectorAll("#groups th button")[i].click(); }
var said = [];
said.push(rows().length, type(0));
press(0); said.push(type(0));
press(3); said.push(type(0));
rows()[0].click(); said.push(rows()[0].nextSibling.textContent);
var search = document.getElementById("search");
search.value = "orders"; search.dispatchEvent(new Event("input"));
said.push(rows().length, document.getElementById("found").textContent);
var pre = document.createElement("pre");
pre.id = "acted"; pre.textContent = said.join("|");
document.body.append(pre);
</script></body>"""
open(sys.argv[2] + "/acted.html", "w").write(page.replace("</body>", acts))
start = page.index('id="data">') + len('id="data">')
end = page.index("</script>", start)
data = json.loads(page[start:end])
held = dict(data["retained"][0], type=None, name=None)
data["retained"] = [
    dict(held, about=True, kind="thread", thread_name="worker", function="work"),
    dict(held, about=False, kind="block", type="Cache", certain=False)]
held = page[:start] + json.dumps(data).replace("<", "\\u003c") + page[end:]
open(sys.argv[2] + "/held.html", "w").write(held)
one = data["groups"][0]
data["groups"] = [dict(one, type="type%d" % i, total_bytes=i) for i in range(100000)]
acts = acts.replace('"orders"', '"type77777"')
many = page[:start] + json.dumps(data).replace("<", "\\u003c") + page[end:]
open(sys.argv[2] + "/many.html", "w").write(many.replace("</body>", acts))
END
look "$work/acted.html"
grep -o '<pre id="acted">[^<]*' "$work/dom" >"$work/acted"
sed -n '/id="acted"/,$p' "$work/dom" | grep -q \
    '>2|Session|probably node|' || fail "not sorted: $(cat "$work/acted")"
sed -n '/id="acted"/,$p' "$work/dom" | grep -q '\.orders  1 × Plain\*\[\]' ||
	fail "not opened: $(cat "$work/acted")"
sed -n '/id="acted"/,$p' "$work/dom" |
	grep -q '\.orders\[\]  4 × probably Plain' || fail "not probable"
sed -n '/id="acted"/,$p' "$work/dom" | grep -q '|1|1 found' ||
	fail "not found: $(cat "$work/acted")"
look "$work/held.html"
grep -q '<td>about: thread worker, work</td>' "$work/dom" ||
	fail "no doubtful holder"
grep -q '<td>probably Cache</td><td class="wide">probably Cache</td>' \
    "$work/dom" || fail "no probable holder"
look "$work/many.html"
grep -q '<pre id="acted">200|type99999|type0|' "$work/dom" ||
	fail "not 100,000 groups: $(grep -A3 'id="acted"' "$work/dom")"
sed -n '/id="acted"/,$p' "$work/dom" | grep -q '|1|1 found' ||
	fail "one of 100,000 not found"

[ $failures -eq 0 ] || exit 1

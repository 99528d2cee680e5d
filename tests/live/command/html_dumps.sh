#!/bin/sh
# The pages of --heap-dump and --diff in a browser: no script error, no refusal
# by the content policy, a flame graph that enlarges, tables that sort, stacks
# from the innermost frame, a search; and 100,000 stacks.
set -u
. tests/support/script_setup.sh
. tests/support/command/browser.sh
command=$build/memunreachable

if ! command -v python3 >/dev/null || [ -z "$browser" ]; then
	echo "SKIPPED: no python3 or no chromium"
	exit 77
fi

# dump STACKS MORE: in the form of the recorder; each third stack has MORE
# blocks. Of the bytes of "leaf" there are the most.
dump() {
	python3 - "$1" "$2" <<'END'
import random, sys
stacks, more = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(1)
frames = [(0x7f0000000000 + i * 16, "served" if i % 3 else "libmade<b>.so",
           f"function{i}<i>" if i else "leaf") for i in range(400)]
print("Android Native Heap Dump v1.2\n\nBuild fingerprint: 'test'\n")
print(f"Total memory: 1\nAllocation records: {stacks}\nBacktrace size: 16\n")
for i in range(stacks):
    stack = [draw.choice(frames[1:]) for _ in range(draw.randrange(2, 9))]
    stack = ([frames[0]] if i % 2 else []) + stack + [frames[399]]
    print("z 1  sz %8d  num %4d  bt %s" %
          (100, 1 + draw.randrange(3) + (more if i % 3 == 0 else 0),
           " ".join("%x" % pc for pc, _, _ in stack)))
    print("  bt_info " + " ".join('{"/usr/lib/%s" %x "%s" 4}' % (
        module, pc & 0xffffff, name) for pc, module, name in stack))
print("MAPS\nEND")
END
}

# What a reader does on PAGE, to $work/dom.
act() {
	python3 - "$1" "$work/acted.html" <<'END'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = re.sub(r"<meta http-equiv[^>]*>", "", page)
acts = """<script>
function all(s) { return document.querySelectorAll(s); }
function cell(i) { return all("#s0 table")[0].rows[1].cells[i].textContent; }
var said = [], cells = all("#s0 .flame div"), wide;
said.push(cells.length > 50 ? "flames" : cells.length);
said.push(cells[1].textContent);
wide = Array.from(cells).find(function (e) { return e.at.up && e.at.up.up; });
wide.click();
said.push(all("#s0 .said")[0].textContent.split(":")[0] === wide.title
    .split("\\n")[0] ? "enlarged" : "not enlarged");
said.push(cell(3));
all("#s0 table th button")[3].click();
said.push(cell(3));
all("#s0 table th button")[0].click();
said.push(cell(3));
said.push(all("#s0 table").length + " tables");
var up = all("#s0 details.part")[3];
up.open = true; up.dispatchEvent(new Event("toggle"));
var first = up.querySelector(".up > details");
said.push(first.querySelector("summary span").textContent.split(" ")[0]);
first.open = true; first.dispatchEvent(new Event("toggle"));
said.push(first.children.length > 2 ? "callers" : "no callers");
var search = document.getElementById("search");
search.value = "FUNCTION77<"; search.dispatchEvent(new Event("input"));
said.push(cell(3), document.getElementById("found").textContent
    .replace(/[0-9]+/, "some"));
said.push(document.documentElement.scrollWidth <=
    document.documentElement.clientWidth ? "fits" : "too wide");
var pre = document.createElement("pre");
pre.id = "acted"; pre.textContent = said.join("|");
document.body.append(pre);
</script></body>"""
open(sys.argv[2], "w", encoding="utf-8").write(page.replace("</body>", acts))
END
	look "$work/acted.html"
	sed -n 's|.*<pre id="acted">\([^<]*\)</pre>.*|\1|p' "$work/dom" \
	    >"$work/said"
	has "$work/said" "$2"
}

expected="flames|function399&lt;i&gt; (libmade&lt;b&gt;.so+0x18f0)|enlarged|leaf"
expected="$expected|function100&lt;i&gt;|leaf|2 tables|leaf|callers"
expected="$expected|function77&lt;i&gt;|some found|fits"
for stacks in 2000 100000; do
	name="$stacks stacks"
	dump $stacks 0 >"$work/a.txt"
	dump $stacks 5 >"$work/b.txt"
	"$command" --heap-dump "$work/a.txt" --limit=1000 \
	    --html "$work/a.html" >/dev/null || fail "status $?"
	"$command" --diff "$work/a.txt" "$work/b.txt" \
	    --html "$work/diff.html" >/dev/null || fail "status $?"
	for page in a diff; do
		look "$work/$page.html"
		has "$work/dom" 'class="flame"'
		act "$work/$page.html" "$expected"
		python3 tests/support/command/html_check.py \
		    "$work/$page.html" >"$work/words" ||
			fail "$(cat "$work/words")"
	done
done

[ $failures -eq 0 ]

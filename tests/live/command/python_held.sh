#!/bin/sh
# Who holds objects of CPython: paths and dominators follow what owns them, not
# the ring of the collector, free objects that are kept, and text.
set -u
. tests/support/command/command.sh

word() {
	awk -v name="$1" '{ for (i = 1; i < NF; i++)
		if ($i == name) print $(i + 1) }' "$said"
}

cat >"$work/program.py" <<'END'
import ctypes
import gc
import sys
import weakref

gc.disable()


class Session:
    def __init__(self, number):
        self.name = "name %d" % number
        self.orders = [(number, str(number)) for _ in range(5)]


class Registry:
    def __init__(self):
        self.sessions = {i: Session(i) for i in range(2000)}


class Attributes:
    def __init__(self, count):
        for i in range(count):
            setattr(self, "a%d" % i, None)
        self.data = ["data"]


class Table(dict):
    pass


class Garbage:
    def __init__(self):
        self.itself = self
        self.data = ["garbage"]


def hold():
    return Registry()


def scrub(depth):
    """Dead frames still refer to what they had."""
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = depth
    if depth > 0:
        scrub(depth - 1)
    return [a, b, c, d, e, f, g, h, i, j, k, l, m, n]


def tell():
    session = registry.sessions[1000]
    garbage = [Garbage() for _ in range(20)]
    print("session", hex(id(session)), "orders", hex(id(session.orders)),
          "sessions", hex(id(registry.sessions)),
          "garbage", hex(id(garbage[10])), "data", hex(id(garbage[10].data)))


def old_word(address):
    """A dictionary whose table has 208 of 216 bytes, ADDRESS behind these."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    names = ["n%d" % i for i in range(8)]
    while True:
        block = libc.malloc(208)
        ctypes.c_size_t.from_address(block + 208).value = address
        libc.free(block)
        table = {}
        for name in names:
            table[name] = None
        if ctypes.c_size_t.from_address(id(table) + 32).value == block:
            return table


def wait(waiting):
    yield 1


def keep():
    session = registry.sessions[1000]
    kept["hash"] = {id(session): None}
    kept["weak"] = weakref.ref(session)
    kept["old"] = old_word(id(session))
    kept["plain"] = Attributes(0)
    kept["dicted"] = Attributes(0)
    kept["dicted"].__dict__  # makes its dictionary
    kept["many"] = Attributes(60)
    kept["table"] = Table(data=["data"])
    for name in "plain", "dicted", "many":
        print(name, hex(id(kept[name].data)))
    print("table", hex(id(kept["table"]["data"])))
    kept["keys"] = {
        key: ["data"] for key in (
            ("a", (1, "b"), 1.5), "na\u00efve", "\u65e5\u672c", "a\"\n\x1b",
            "\U0001f600\u202e", 2**40, -(2**40))}
    for number, data in enumerate(kept["keys"].values()):
        print("key%d" % number, hex(id(data)))


registry = hold()
waiting = ["waited for"]
print("waiting", hex(id(waiting)))
kept = {"waiting": wait(waiting)}
next(kept["waiting"])
del waiting
tell()
keep()
scrub(100)
print("ready", flush=True)
sys.stdin.read()
END

# The blocks on the path in FILE, one a line.
path_in() {
	grep -o 'block of .* at [0-9a-f]*' "$1" | sed '/references to it/q'
}

# Decoded into more than 512 bytes, which malloc gives, and then made smaller.
shrunk='
import sys
kept = [("\u00e9" * 300).encode().decode() for _ in range(5)]
print("ready", flush=True)
sys.stdin.read()
'

check_python() {
	hold env PYTHONMALLOC=malloc "$1" "$work/program.py"
	name="$1, no arenas"
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has_no "$work/text" "PYTHONMALLOC=malloc"
	name="$1, the path to an attribute of an element"
	"$command" -q --why="$(word orders)" --max-pause=20s -p "$pid" \
	    >"$work/text" 2>"$err"
	has "$work/text" ' → dict["__main__"] → module → dict["registry"] → '
	has "$work/text" ' → Registry.sessions → dict[1000] → Session.orders → list'
	path_in "$work/text" >"$work/path"
	# Old words in what the compiler has, and behind values, own nothing.
	for kept in 'plain Attributes.data' 'dicted Attributes( → dict\["data"\]|\.data)' \
		'many Attributes → dict\["data"\]' 'table Table\["data"\]'; do
		name="$1, the path to what is kept: $kept"
		"$command" -q --why="$(word "${kept%% *}")" --max-pause=20s \
		    -p "$pid" >"$work/text" 2>"$err"
		like "$work/text" \
		    " → dict\[\"kept\"\] → dict\[\"${kept%% *}\"\] → ${kept#* } → list\$"
	done
	number=0
	for key in '("a", (1, "b"), ?)' '"naïve"' '"日本"' '"a\"\n\x1b"' \
		'"😀\u202e"' 1099511627776 -1099511627776; do
		name="$1, the path by the key $key"
		"$command" -q --why="$(word key$number)" --max-pause=20s \
		    -p "$pid" >"$work/text" 2>"$err"
		has "$work/text" " → dict[\"keys\"] → dict[$key] → list"
		number=$((number + 1))
	done
	name="$1, what a generator that waits holds"
	"$command" -q --why="$(word waiting)" --max-pause=20s -p "$pid" \
	    >"$work/text" 2>"$err"
	like "$work/text" ' → dict\["waiting"\] → .*generator.* → list$'
	name="$1, references to an object"
	"$command" -q --why="$(word session)" --all --max-pause=20s -p "$pid" \
	    >"$work/text" 2>"$err"
	has "$work/text" "probably part of a dict, block of 72.0 KiB"
	# Neither a hash nor a weak reference owns it.
	unlike "$work/text" "^    probably part of a dict, block of [0-9]+ bytes"
	has_no "$work/text" "    weakref"
	has_no "$work/text" "    Session, block of"
	# Registers may lead to an object; otherwise only the links of the collector
	# do, which lead to all of them.
	for registers in yes no; do
		name="$1, garbage, registers: $registers"
		"$command" -q --why="$(word data)" --max-pause=20s \
		    --use-registers=$registers -p "$pid" >"$work/text" 2>"$err"
		has "$work/text" " → Garbage.data → list"
		has_no "$work/text" " → list →"
		has_no "$work/text" "function"
	done
	has "$work/text" "  words of CPython that own nothing: links, free"
	name="$1, dominators"
	"$command" -q --retained=2 --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" ' → module → dict["registry"] → Registry.sessions → dict'
	"$command" -q --format=json --retained=2 --max-pause=20s -p "$pid" \
	    >"$work/json" 2>"$err"
	fits_schema "$work/json"
	python3 - "$work/json" >"$work/verdict" 2>&1 <<'END' || fail "$(cat "$work/verdict")"
import json
import sys

most = json.load(open(sys.argv[1]))["retained"][0]
assert most["retained_blocks"] > 20000, most
assert [s["type"] for s in most["path"]].count("Registry") == 1, most["path"]
END
	name="$1, of a look"
	"$command" -q --save="$work/look" --timeout=200s --max-pause=20s -p "$pid" \
	    >"$work/text" 2>"$err"
	"$command" -q --in-use "$work/look" >"$work/text" 2>"$err"
	# malloc gives some of the 2000 a larger block, which has another row.
	like "$work/text" " (19[5-9]|20[0-9])[0-9]  [0-9]+ bytes, (probably )?Session"
	"$command" -q --why="$(word session)" --all "$work/look" \
	    >"$work/text" 2>"$err"
	has_no "$work/text" "    list, block of"
	unlike "$work/text" "^    probably part of a dict, block of [0-9]+ bytes"
	has_no "$work/text" "    weakref"
	has_no "$work/text" "ob_refcnt"
	# The same path, without the keys and attributes, which are text.
	"$command" -q --why="$(word orders)" "$work/look" >"$work/text" 2>"$err"
	path_in "$work/text" | cmp - "$work/path" || fail "$(cat "$work/text")"
	has_no "$work/text" '['
	name="$1, of a look with contents"
	"$command" -q --contents --save="$work/look" --timeout=200s \
	    --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	"$command" -q --why="$(word orders)" "$work/look" >"$work/text" 2>"$err"
	path_in "$work/text" | cmp - "$work/path" || fail "$(cat "$work/text")"
	has "$work/text" ' → Registry.sessions → dict[1000] → Session.orders → list'
	let_go
	name="$1, arenas, and strings that shrank"
	hold "$1" -c "$shrunk"
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "PYTHONMALLOC=malloc"
	let_go
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
checked=
for python in ${PYTHONS:-/usr/bin/python3 \
    "$(python3 -c 'import sys; print(sys.executable)')"}; do
	if [ ! -x "$python" ] || ! "$python" -c 'import sys
sys.exit(sys.version_info < (3, 11))'; then
		echo "SKIPPED: no CPython 3.11 or later as $python"
		continue
	fi
	check_python "$python"
	checked=yes
done

[ $failures -eq 0 ] || exit 1
[ -n "$checked" ] || exit 77

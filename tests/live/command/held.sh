#!/bin/sh
# --retained, --why and --in-use for a process, a core, and a command at its
# end, as text and as JSON.
set -u
. tests/support/command/command.sh
victim=$build/tests/live/victims/victim_held

word() {
	awk -v name="$1" '{ for (i = 1; i < NF; i++)
		if ($i == name) print $(i + 1) }' "$said"
}

# The holders that a report must name, whichever way it was made.
expect_holders() {
	has "$1" "% of the heap (4"
	has "$1" ") is held by variable cache in victim_held (cache): 4001 blocks"
	has "$1" "      cache (victim_held) .table → "
	has "$1" "variable pointers in victim_held (void*[64])"
	has "$1" "variable kept_inside in victim_held"
	has "$1" "thread-local variables of thread"
	has "$1" "about: thread"
	has "$1" ", of variable other_one in victim_held (void*) and others"
}

hold "$victim"

name='retained, of a process'
"$command" -q --retained --max-pause=20s -p "$pid" >"$work/text" 2>"$err" ||
	fail "status $?: $(cat "$err")"
expect_holders "$work/text"
has "$work/text" "'worker', handle() at victim_held.c:"
"$command" -q --retained=2 --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "more holders"
has_no "$work/text" "kept_inside"

name='why'
"$command" -q --why="$(word name)" --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "variable cache in victim_held (cache), +0x8 .table"
has "$work/text" "[2000], block of 15.6 KiB at $(word table | cut -c3-), +0x3e78"
has "$work/text" "-> session, block of 216 bytes at $(word session | cut -c3-), +0x8"
has "$work/text" "block of 24 bytes at $(word name | cut -c3-)"
has "$work/text" "  cache (victim_held) .table → probably session*[2000][1999]"
has "$work/text" " → session.name → probably char["
"$command" -q --why="$(word shared)" --all --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "    variable shared_one in victim_held (char*), +0x0"
has "$work/text" "    variable other_one in victim_held (void*), +0x0"
"$command" -q --why=1000 --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "no live block has this address"

name='why a row'
for row in 'probably session*[2000]' 'session*[2000]' 'session*[]'; do
	"$command" -q --why="$row" --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "Why ${row#probably } lives: 15.6 KiB in 1 reachable block;"
	has "$work/text" "[2000], block of 15.6 KiB at $(word table | cut -c3-)"
done
"$command" -q --why='session*[1999]' --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "no reachable block has this type"

name='in use'
"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "2000  216 bytes"
has "$work/text" "2000  24 bytes, "
has "$work/text" ", 1950 repeat a text"
has_no "$work/text" "customer number"
"$command" -q --in-use --contents --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" '"customer number 1'

name='a core'
if command -v gcore >/dev/null &&
    gcore -o "$work/core" "$pid" >/dev/null 2>&1; then
	"$command" -q --retained --core "$work/core.$pid" >"$work/text" 2>"$err"
	expect_holders "$work/text"
	"$command" -q --why="$(word name)" --core "$work/core.$pid" \
	    >"$work/text" 2>"$err"
	has "$work/text" "variable cache in victim_held (cache), +0x8"
else
	echo "SKIPPED: held: no gcore"
fi

name='a command'
"$command" -q --retained --in-use -- "$victim" </dev/null >"$said" \
    2>"$work/text"
expect_holders "$work/text"
has "$work/text" "2000  216 bytes"

name='who allocated it'
"$command" -q --backtrace --in-use \
    -- "$victim" </dev/null >"$said" 2>"$work/text"
has "$work/text" "By the stack that allocated it ("
has "$work/text" "2000  421.9 KiB asked for"
has "$work/text" "(new_session)"
"$command" -q --backtrace --retained -- "$victim" </dev/null >"$said" \
    2>"$work/text"
has "$work/text" ", allocated in fill_cache() at victim_held.c:"
"$command" -q --backtrace --format=json --in-use -o "$work/json" \
    -- "$victim" </dev/null >"$said"
has "$work/json" '"function": "new_session"'
fits_schema "$work/json"

name='JSON'
"$command" -q --format=json --retained --in-use --contents --all \
    --why="$(word name)" --max-pause=20s -p "$pid" >"$work/json" 2>"$err"
has "$work/json" '"retained_blocks": 4001'
has "$work/json" '"text": "customer number 1'
has "$work/json" '"why_found": '
fits_schema "$work/json"

name='bad values'
run 2 --max-pause=20s -p "$pid" --retained=0
has "$err" "1 to 1000"
run 2 --max-pause=20s -p "$pid" --why=0:Session
has "$err" "the address of a block"
run 2 --max-pause=20s -p "$pid" --why=12:
has "$err" "or a type"

let_go

name='types'
cat >"$work/shapes.cc" <<'END'
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <vector>
struct Shape { virtual ~Shape() {} int sides[20]; };
struct Circle : Shape { int radius[30]; };
std::vector<Shape *> shapes;
std::shared_ptr<Circle> kept = std::make_shared<Circle>();
/* An owner that nothing can find. */
struct Hidden { union { std::shared_ptr<Circle> owner; unsigned long words[2]; };
	Hidden() : owner(kept) { words[0] ^= -1ul; words[1] ^= -1ul; }
	~Hidden() {} } hidden;
int main()
{
	for (int i = 0; i < 100; i++)
		shapes.push_back(new Circle);
	std::printf("ready circle %p kept %p\n", (void *)shapes[50],
	    (void *)((char *)kept.get() - 16));
	std::fflush(stdout);
	char byte;
	while (read(0, &byte, 1) > 0)
		continue;
}
END
"${CXX:-c++}" -g -O1 -o "$work/shapes" "$work/shapes.cc" || fail "no program"
hold "$work/shapes"
"$command" -q --why="$(word circle)" --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "variable shapes in shapes (std::vector<Shape*> of 100), +0x0"
has "$work/text" "  shapes (shapes) [50] → Circle"
has "$work/text" "-> Circle, block of 216 bytes at $(word circle | cut -c3-)"
"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "100  216 bytes, Circle"

name='owners'
"$command" -q --all --why="$(word kept)" -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "Circle with its shared_ptr control block"
has "$work/text" "use_count 2, 1 reference found: "

name='why a type'
"$command" -q --why=2:Circle --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "Why Circle lives: 21.1 KiB in 100 reachable blocks"
[ "$(grep -c 'variable shapes in shapes (.*, +0x0' "$work/text")" -eq 2 ] ||
	fail "not two paths: $(cat "$work/text")"
[ "$(grep -c -e '-> Circle, block of 216 bytes' "$work/text")" -eq 2 ] ||
	fail "not two circles: $(cat "$work/text")"
"$command" -q --why='1:C*c?e' --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "-> Circle, block of 216 bytes"
"$command" -q --why=Square --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
has "$work/text" "no reachable block has this type"
"$command" -q --format=json --why=Circle --all --in-use --max-pause=20s -p "$pid" \
    >"$work/json" 2>"$err"
has "$work/json" '"blocks": 100'
fits_schema "$work/json"
let_go

name='types with data before the object'
if command -v python3 >/dev/null; then
	hold env PYTHONMALLOC=malloc python3 -c 'import sys
class Value:
	def __init__(self):
		self.a = self.b = None
items = {i: "item %d" % i for i in range(20000)}
more = {i: "more %05d" % i for i in range(50000)}
values = [Value() for i in range(5000)]
print("ready", flush=True)
sys.stdin.read()'
	"$command" -q --retained --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "-> dict, block of "
	# More of one size than are asked for one by one.
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	like "$work/text" " [67][0-9]{4}  (56|72) bytes, str"
	like "$work/text" " [45][0-9]{3}  [0-9]+ bytes, Value"
	like "$work/text" " [45][0-9]{3}  [0-9]+ bytes, probably part of a Value"
	has_no "$work/text" PYTHONMALLOC=malloc
	let_go
	# The list is in an arena of CPython, its items are in a block.
	hold env -u PYTHONMALLOC python3 -c 'import sys
items = [[i] * 1000 for i in range(200)]
buffers = [bytearray(5000) for i in range(10)]
print("ready", flush=True)
sys.stdin.read()'
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	like "$work/text" " (1[5-9][0-9]|20[0-9])  8008 bytes, probably part of a list"
	like "$work/text" " [0-9]+  50[0-9]+ bytes, probably part of a bytearray"
	has "$work/text" PYTHONMALLOC=malloc
	let_go
else
	echo "SKIPPED: held: no python3"
fi

name='more texts of one size than are asked for'
cat >"$work/texts.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
char *texts[40000], *others[40000];
int main(void)
{
	char byte;
	int i;

	for (i = 0; i < 40000; i++) {
		if (asprintf(&texts[i], "text number %05d", i) < 0)
			return 1;
		others[i] = malloc(18); /* an address is no text */
		*(char ***)(void *)others[i] = &texts[i];
		memset(others[i] + 8, 0, 10);
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}
END
if made "$work/texts" "${CC:-cc}" "$work/texts.c"; then
	hold "$work/texts"
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	like "$work/text" " 40000  24 bytes, text"
	like "$work/text" " 40000  24 bytes$"
	let_go
else
	fail "not compiled"
fi

name='classes of a library between blocks'
cat >"$work/session.cc" <<'END'
struct Session {
	virtual ~Session();
	long words[5];
};
Session::~Session() {}
extern "C" void *make() { return new Session(); }
END
cat >"$work/between.c" <<'END'
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define OTHERS 140000 /* more than are asked for one by one */
#define SESSIONS 1000
#define GAPS 200 /* between libraries, and too small for another one */
void **table, *gaps[GAPS];
int main(int argc, char **argv)
{
	void *(*make)(void) = NULL, *library;
	char byte;
	int i;

	/* Have mappings, above that of a library that comes later. */
	mallopt(M_MMAP_THRESHOLD, 4096);
	for (i = 0; i < GAPS; i++)
		gaps[i] = calloc(1, 5000);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	table = calloc(OTHERS + SESSIONS, sizeof(void *));
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (library != NULL)
		make = (void *(*)(void))dlsym(library, "make");
	if (make == NULL)
		return 1;
	for (i = 0; i < OTHERS; i++)
		table[i] = calloc(1, 72 + i % 5 * 16);
	for (; i < OTHERS + SESSIONS; i++)
		table[i] = make();
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}
END
if made "$work/session.so" "${CXX:-c++}" -fPIC -shared "$work/session.cc" &&
	made "$work/between" "${CC:-cc}" "$work/between.c" -ldl; then
	hold "$work/between" "$work/session.so"
	"$command" -q --in-use --max-pause=20s --timeout=100 -p "$pid" \
	    >"$work/text" 2>"$err"
	like "$work/text" " 1000  56 bytes, .*Session$"
	let_go
else
	fail "not compiled"
fi

name='chunks of PHP'
cat >"$work/chunks.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	const uintptr_t size = (uintptr_t)2 << 20;
	char byte, *all = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t *chunk = (uintptr_t *)(((uintptr_t)all + size - 1) & -size);
	uintptr_t *second = chunk + size / sizeof(*chunk);

	chunk[0] = second[0] = (uintptr_t)(chunk + 8);
	chunk[1] = chunk[2] = (uintptr_t)second;
	second[1] = second[2] = (uintptr_t)chunk;
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}
END
if made "$work/chunks" "${CC:-cc}" "$work/chunks.c"; then
	hold "$work/chunks"
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "in 4 MiB of chunks"
	has "$work/text" USE_ZEND_ALLOC=0
	let_go
else
	fail "not compiled"
fi

name='contexts of PostgreSQL'
cat >"$work/contexts.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const char *methods = "functions";
uintptr_t *top, *more[5];
static uintptr_t *context(size_t size, uintptr_t *parent, const char *name)
{
	uintptr_t *made = calloc(1, size);

	made[2] = (uintptr_t)&methods;
	made[3] = (uintptr_t)parent;
	if (parent != NULL)
		parent[4] = (uintptr_t)made;
	made[7] = (uintptr_t)name;
	return made;
}
static uintptr_t *block(size_t size, uintptr_t *of)
{
	uintptr_t *made = calloc(1, size);

	made[0] = (uintptr_t)of;
	made[3] = (uintptr_t)(made + 8);
	made[4] = (uintptr_t)made + size;
	return made;
}
/* The context, and where the size and the end are, by the release. */
static uintptr_t *generation(size_t size, uintptr_t *of, int new)
{
	uintptr_t *made = calloc(1, size);

	made[2 + new] = size;
	made[5 + new] = (uintptr_t)made + size;
	made[new ? 2 : 8] = (uintptr_t)of;
	if (!new)
		made[7] = (uintptr_t)made;
	return made;
}
int main(void)
{
	char byte;

	top = context(1000, NULL, "TopMemoryContext");
	more[0] = context(2000, top, "Orders");
	more[1] = block(8200, more[0]);
	more[2] = block(9000, more[0]);
	more[2][4] += 4096; /* beyond its end: it is none */
	more[3] = generation(10000, more[0], 0);
	more[4] = generation(11000, more[0], 1);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}
END
if made "$work/postgres" "${CC:-cc}" "$work/contexts.c"; then
	hold "$work/postgres"
	"$command" -q --in-use --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" " 1000 bytes, probably memory context TopMemoryContext"
	has "$work/text" " 2008 bytes, probably memory context Orders"
	has "$work/text" " 8200 bytes, probably block of memory context Orders"
	like "$work/text" " 9000 bytes$"
	has "$work/text" " 10008 bytes, probably block of memory context Orders"
	has "$work/text" " 11000 bytes, probably block of memory context Orders"
	let_go
else
	fail "not compiled"
fi

name='owners of a GObject'
flags=$(pkg-config --cflags --libs gobject-2.0 2>/dev/null)
cat >"$work/objects.c" <<'END'
#include <glib-object.h>
#include <stdio.h>
#include <unistd.h>
GObject *twice;
GBindingGroup *once; /* no class of the program's debug information */
int main(void)
{
	char byte;

	twice = g_object_new(G_TYPE_INITIALLY_UNOWNED, NULL);
	g_object_ref_sink(twice);
	g_object_ref(twice);
	once = g_object_new(G_TYPE_BINDING_GROUP, NULL);
	/* GLib loses its smaller table of these. */
	for (int i = 0; i < 3000; i++) {
		char quark[24];

		snprintf(quark, sizeof(quark), "quark %d", i);
		g_quark_from_string(quark);
	}
	printf("ready twice %p once %p\n", (void *)twice, (void *)once);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
END
# shellcheck disable=SC2086
if [ -z "$flags" ]; then
	echo "SKIPPED: held: no libglib2.0-dev"
elif "${CC:-cc}" -g -o "$work/objects" "$work/objects.c" $flags; then
	hold env G_SLICE=always-malloc "$work/objects"
	"$command" -q --all --why="$(word twice)" -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "-> GInitiallyUnowned, block of "
	has "$work/text" "ref_count 2, 1 reference found: "
	"$command" -q --all --why="$(word once)" -p "$pid" >"$work/text" 2>"$err"
	has "$work/text" "-> GBindingGroup, block of "
	has_no "$work/text" "ref_count"
	# An old word of the stack may lead to the table.
	"$command" -q --in-use -p "$pid" >"$work/text" 2>"$err"
	like "$work/text" \
	    "(1 block: 1 × |16392 bytes, )strings of GLib's quarks"
	let_go
else
	fail "not compiled"
fi

name='names of the linker'
cat >"$work/lib.c" <<'END'
#include <stdlib.h>
extern char __bss_start[], _end[]; /* so that they are exported */
static char *held[1000];
char *keep(void)
{
	held[3] = __bss_start;
	held[4] = _end;
	return held[700] = calloc(1, 50000);
}
END
cat >"$work/bare.c" <<'END'
#include <stdio.h>
#include <unistd.h>
char *keep(void);
int main(void)
{
	char byte;

	keep();
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
END
if "${CC:-cc}" -s -shared -fPIC -o "$work/libbare.so" "$work/lib.c" &&
    "${CC:-cc}" -o "$work/bare" "$work/bare.c" "$work/libbare.so"; then
	hold "$work/bare"
	"$command" -q --retained --max-pause=20s -p "$pid" >"$work/text" 2>"$err"
	like "$work/text" "held by variable at [0-9a-f]+ in libbare.so"
	let_go
else
	fail "not compiled"
fi

[ "$failures" -eq 0 ]

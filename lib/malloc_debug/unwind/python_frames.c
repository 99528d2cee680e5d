#include "lib/malloc_debug/unwind/python_frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "lib/malloc_debug/unwind/python_lines.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "mu/sys.h"

#define DIRECT 0xff   /* the thread's state has the frame itself */
#define NO_OWNER 0xff /* all frames are of functions */
#define OWNER_C 3     /* of the interpreter's entry, FRAME_OWNED_BY_CSTACK */

#define OBJECT_TYPE 8    /* bytes to PyObject.ob_type */
#define OBJECT_LENGTH 16 /* to the length of bytes, and of a text */
#define BYTES_VALUE 32
#define TEXT_HASH 24 /* UINTPTR_MAX: not known yet */
#define TEXT_STATE 32
#define TEXT_COMPACT (1u << 5)
#define TEXT_ASCII (1u << 6)
#define TEXT_KIND(state) ((state) >> 2 & 7) /* bytes a letter */

#define HASHED 128                      /* bytes, a multiple of 8 */
#define KNOWN 12                        /* sets of a table: 256 KiB */
#define CODE_MOST ((uintptr_t)64 << 20) /* bytes of a function */
#define STEPS 4 /* frames that are looked at for each that is wanted */

enum position {
	POSITION_BYTES,   /* an int, until 3.9 */
	POSITION_UNITS,   /* of 2 bytes */
	POSITION_POINTER, /* to the instruction */
};

/* Offsets in bytes, of builds without Py_TRACE_REFS and Py_GIL_DISABLED. */
struct layout {
	uint8_t state, current; /* PyThreadState; _PyCFrame in between */
	uint8_t back, code, position, owner; /* of a frame */
	uint8_t kind;                        /* enum position */
	uint8_t table_kind;                  /* enum python_table */
	/* PyCodeObject */
	uint8_t file, name, first, table, start;
	uint8_t ascii, wide; /* to the letters of a text */
};

/* CPython 3.6, 3.7 ...; from the headers of these. */
static const struct layout layouts[] = {
	{ 24, DIRECT, 24, 32, 120, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB, 96,
	    104, 36, 112, 0, 48, 72 },
	{ 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB, 96,
	    104, 36, 112, 0, 48, 72 },
	{ 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB, 104,
	    112, 40, 120, 0, 48, 72 },
	{ 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB, 104,
	    112, 40, 120, 0, 48, 72 },
	{ 24, DIRECT, 24, 32, 96, NO_OWNER, POSITION_UNITS, PYTHON_LINES, 104,
	    112, 40, 120, 0, 48, 72 },
	{ 56, 8, 48, 32, 56, 69, POSITION_POINTER, PYTHON_LOCATIONS, 112, 128,
	    72, 136, 184, 48, 72 },
	{ 56, 0, 8, 0, 56, 70, POSITION_POINTER, PYTHON_LOCATIONS, 112, 128, 68,
	    136, 192, 40, 56 },
	{ 72, DIRECT, 8, 0, 56, 70, POSITION_POINTER, PYTHON_LOCATIONS, 112,
	    128, 68, 136, 200, 40, 56 },
};

#define FIRST_MINOR 6
#define NUM_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Results by hashes: lines, and stacks that have them. */
struct known {
	struct stack_known lines[1u << KNOWN][KNOWN_WAYS];
	struct stack_known stacks[1u << KNOWN][KNOWN_WAYS];
};

static struct {
	const struct layout *at;
	void *(*this_state)(void); /* NULL: this thread runs no Python */
	uintptr_t code_type, text_type, bytes_type;
	uintptr_t loop, loop_size; /* the function that executes Python */
	struct known *known;
	bool proven; /* AT is right */
} python;

bool python_frames_there;

static inline uintptr_t
word_at(uintptr_t at)
{
	return *(const uintptr_t *)at;
}

static inline int
int_at(uintptr_t at)
{
	return *(const int *)at;
}

static bool
is_of(uintptr_t object, uintptr_t type)
{
	return object != 0 && object % sizeof(uintptr_t) == 0 &&
	    word_at(object + OBJECT_TYPE) == type;
}

/* "3.11.2 (main, ...": 11; 0 for others. */
static unsigned
minor_of(const char *version)
{
	unsigned minor = 0;

	if (strncmp(version, "3.", 2) != 0)
		return 0;
	for (version += 2; *version >= '0' && *version <= '9'; version++)
		minor = 10 * minor + (unsigned)(*version - '0');
	return minor;
}

static uintptr_t
symbol(const char *name)
{
	return (uintptr_t)dlsym(RTLD_DEFAULT, name);
}

static bool
find_loop(void)
{
	const ElfW(Sym) *entry = NULL;
	Dl_info info;

	python.loop = symbol("_PyEval_EvalFrameDefault");
	if (python.loop == 0 ||
	    dladdr1((void *)python.loop, &info, (void **)&entry,
		RTLD_DL_SYMENT) == 0 ||
	    entry == NULL)
		return false;
	python.loop_size = entry->st_size;
	return true;
}

static bool
map_known(void)
{
	long at =
	    mu_sys_mmap(NULL, sizeof(*python.known), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (mu_sys_failed(at))
		return false;
	python.known = (struct known *)at;
	return true;
}

void
python_frames_init(void)
{
	const char *(*version)(void) =
	    (const char *(*)(void))symbol("Py_GetVersion");
	unsigned minor = version == NULL ? 0 : minor_of(version());

	if (minor < FIRST_MINOR || minor - FIRST_MINOR >= NUM_LAYOUTS)
		return;
	python.at = &layouts[minor - FIRST_MINOR];
	python.this_state =
	    (void *(*)(void))symbol("PyGILState_GetThisThreadState");
	python.code_type = symbol("PyCode_Type");
	python.text_type = symbol("PyUnicode_Type");
	python.bytes_type = symbol("PyBytes_Type");
	python_frames_there = python.this_state != NULL &&
	    python.code_type != 0 && python.text_type != 0 &&
	    python.bytes_type != 0 && find_loop() && map_known();
}

/*
 * The bytes of LETTER in UTF-8, written to OUT. A byte of a file's name that is
 * none is a letter from U+DC80 on (PEP 383).
 */
static size_t
put_letter(char *out, uint32_t letter)
{
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	size_t i, more;

	if (letter - 0xdc80 < 0x80)
		letter -= 0xdc00;
	else if (letter >= 0x80) {
		more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
		for (i = more; i > 0; i--, letter >>= 6)
			out[i] = (char)(0x80 | (letter & 0x3f));
		out[0] = (char)(lead[more] | letter);
		return more + 1;
	}
	out[0] = (char)letter;
	return 1;
}

static uint32_t
letter_at(uintptr_t letters, size_t i, unsigned kind)
{
	if (kind == 1)
		return ((const uint8_t *)letters)[i];
	return kind == 2 ? ((const uint16_t *)letters)[i]
			 : ((const uint32_t *)letters)[i];
}

/* Store the beginning of a text in the depot. Returns its unit, or 0. */
static uint32_t
text_unit(uintptr_t text)
{
	union script_text kept = { { 0 } };
	size_t i, length, size = 0;
	uintptr_t letters;
	unsigned state;

	if (!is_of(text, python.text_type))
		return 0;
	state = (unsigned)int_at(text + TEXT_STATE);
	if ((state & TEXT_COMPACT) == 0)
		return 0;
	letters = text +
	    ((state & TEXT_ASCII) != 0 ? python.at->ascii : python.at->wide);
	length = word_at(text + OBJECT_LENGTH);
	for (i = 0; i < length && size + 5 < SCRIPT_TEXT_MOST; i++)
		size += put_letter(
		    kept.bytes + size, letter_at(letters, i, TEXT_KIND(state)));
	return script_text_put(&kept, size);
}

/* Bytes from the beginning of CODE to the instruction that FRAME executes. */
static size_t
position_of(uintptr_t frame, uintptr_t code)
{
	const struct layout *at = python.at;
	int number;

	if (at->kind == POSITION_POINTER)
		return word_at(frame + at->position) - code - at->start;
	number = int_at(frame + at->position);
	if (number < 0)
		return 0;
	return (size_t)number * (at->kind == POSITION_UNITS ? 2 : 1);
}

/* Store the line in the depot. Returns its frame, or 0. */
static uint64_t
make_line(uintptr_t code, size_t position)
{
	const struct layout *at = python.at;
	uintptr_t table = word_at(code + at->table);
	int line = 0;

	if (is_of(table, python.bytes_type))
		line = python_line((enum python_table)at->table_kind,
		    (const unsigned char *)table + BYTES_VALUE,
		    word_at(table + OBJECT_LENGTH), int_at(code + at->first),
		    position);
	return script_line_put(text_unit(word_at(code + at->file)),
	    text_unit(word_at(code + at->name)), line > 0 ? (unsigned)line : 0);
}

/* Of the SIZE bytes at AT; of many, of the first and the last ones. */
static uint64_t
bytes_hash(uintptr_t at, size_t size)
{
	size_t count = size < HASHED ? size / 8 : HASHED / 8, i;
	uint64_t hash = depot_hash((const uint64_t *)at, count, 0), rest = size;

	if (size >= HASHED)
		rest ^= depot_hash(
		    (const uint64_t *)at + (size - HASHED) / 8, count, 1);
	for (i = size & ~(size_t)7; i < size; i++)
		rest = rest << 8 ^ *(const uint8_t *)(at + i);
	return hash ^ rest * LAYOUT_MIX;
}

/* Names have a hash, as dictionaries have them as keys; files may have none. */
static uint64_t
text_hash(uintptr_t text)
{
	uintptr_t own = word_at(text + TEXT_HASH);

	if (own != UINTPTR_MAX)
		return own;
	return bytes_hash(text + OBJECT_LENGTH,
	    python.at->ascii - OBJECT_LENGTH + word_at(text + OBJECT_LENGTH));
}

/*
 * A code object may be freed, and another one be made at its address with its
 * parts at the addresses of those before: what they consist of counts.
 */
static uint64_t
hash_of(uintptr_t code, size_t position)
{
	const struct layout *at = python.at;
	uintptr_t table = word_at(code + at->table);
	uint64_t words[] = {
		code,
		position << 32 | (uint32_t)int_at(code + at->first),
		text_hash(word_at(code + at->file)),
		text_hash(word_at(code + at->name)),
		bytes_hash(table + BYTES_VALUE, word_at(table + OBJECT_LENGTH)),
	};

	return depot_hash(words, sizeof(words) / sizeof(*words), 0);
}

static uint64_t
find_line(uintptr_t code, size_t position)
{
	uint64_t hash = hash_of(code, position);
	struct stack_known *set = python.known->lines[hash >> (64 - KNOWN)];
	uint64_t line = stack_known_get(set, hash);

	if (line == 0) {
		line = make_line(code, position);
		if (line != 0)
			stack_known_note(set, hash, line);
	}
	return line;
}

static void
give_up(void)
{
	__atomic_store_n(&python_frames_there, false, __ATOMIC_RELEASE);
}

/* 0: what is at AT cannot be read. A sandbox may refuse the call at all. */
static uintptr_t
tried(uintptr_t at)
{
	uintptr_t word = 0;
	ssize_t n = mu_sys_vm_read(mu_sys_getpid(), &word, sizeof(word), at);

	if (n < 0 && n != -EFAULT)
		give_up();
	return n == (ssize_t)sizeof(word) ? word : 0;
}

static bool
is_tried(uintptr_t object, uintptr_t type)
{
	return tried(object + OBJECT_TYPE) == type;
}

/* True if FRAME is one by its own strings and table. */
static bool
is_right(uintptr_t frame)
{
	const struct layout *at = python.at;
	uintptr_t code = tried(frame + at->code);

	return is_tried(code, python.code_type) &&
	    is_tried(tried(code + at->file), python.text_type) &&
	    is_tried(tried(code + at->name), python.text_type) &&
	    is_tried(tried(code + at->table), python.bytes_type) &&
	    (at->kind != POSITION_POINTER ||
		tried(frame + at->position) - code < CODE_MOST);
}

/*
 * A build may have another layout: the first frames that are met, up to the
 * outermost one, must agree with this one before any is read without care.
 */
static bool
prove(uintptr_t frame)
{
	const struct layout *at = python.at;
	size_t right = 0, steps = MU_STACK_MAX_FRAMES;

	for (; frame != 0 && steps > 0; steps--) {
		if (at->owner == NO_OWNER ||
		    (tried(frame + at->owner) & 0xff) != OWNER_C) {
			if (!is_right(frame))
				return false;
			right++;
		}
		frame = tried(frame + at->back);
	}
	return right > 0;
}

/* The frame of this thread in the layout's place, or 0. */
static uintptr_t
first_frame(uintptr_t state, uintptr_t (*read)(uintptr_t at))
{
	const struct layout *at = python.at;
	uintptr_t frame = read(state + at->state);

	if (frame == 0 || at->current == DIRECT)
		return frame;
	return read(frame + at->current);
}

/* The innermost frame of this thread, or 0. */
static uintptr_t
innermost(void)
{
	uintptr_t state = (uintptr_t)python.this_state(), frame;

	if (state == 0)
		return 0;
	if (__atomic_load_n(&python.proven, __ATOMIC_ACQUIRE))
		return first_frame(state, word_at);
	frame = first_frame(state, tried);
	if (frame == 0)
		return 0;
	if (!prove(frame)) {
		give_up();
		return 0;
	}
	__atomic_store_n(&python.proven, true, __ATOMIC_RELEASE);
	return frame;
}

static bool
is_function(uintptr_t frame)
{
	uint8_t owner = python.at->owner;

	return (owner == NO_OWNER ||
		   *(const uint8_t *)(frame + owner) != OWNER_C) &&
	    is_of(word_at(frame + python.at->code), python.code_type);
}

static size_t
walk(uintptr_t *frames, size_t max)
{
	uintptr_t frame = innermost(), code;
	size_t count = 0, steps = STEPS * max;
	uint64_t line;

	for (; frame != 0 && count < max && steps > 0; steps--) {
		if (is_function(frame)) {
			code = word_at(frame + python.at->code);
			line = find_line(code, position_of(frame, code));
			if (line == 0)
				break;
			frames[count++] = line;
		}
		frame = word_at(frame + python.at->back);
	}
	return count;
}

/*
 * The frames of CALLS up to the interpreter's loop, followed by LINES; half of
 * them are for Python if the loop is not among them. Returns their unit.
 */
static uint32_t
join(const struct mu_stack *calls, const uintptr_t *lines, size_t count,
    size_t max)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	size_t inner = 0;

	while (inner < calls->num_frames && inner < max &&
	    calls->frames[inner] - python.loop >= python.loop_size)
		inner++;
	if (inner < calls->num_frames && inner < max)
		inner++;
	else if (inner > max / 2)
		inner = max / 2;
	if (count > max - inner)
		count = max - inner;
	memcpy(frames, calls->frames, inner * sizeof(*frames));
	memcpy(&frames[inner], lines, count * sizeof(*frames));
	return stack_depot_put(frames, inner + count, calls->flags);
}

uint32_t
python_frames_put(uint32_t unit, size_t max)
{
	uintptr_t lines[MU_STACK_MAX_FRAMES];
	size_t i, count = walk(lines, max);
	uint64_t hash = unit * LAYOUT_MIX;
	const struct mu_stack *calls;
	struct stack_known *set;
	uint32_t joined;

	if (count == 0)
		return unit;
	for (i = 0; i < count; i++)
		hash = (hash ^ lines[i] ^ hash >> 32) * LAYOUT_MIX;
	set = python.known->stacks[hash >> (64 - KNOWN)];
	joined = (uint32_t)stack_known_get(set, hash);
	if (joined != 0)
		return joined;
	calls = stack_depot_get(unit);
	joined = calls == NULL ? unit : join(calls, lines, count, max);
	if (joined != 0)
		stack_known_note(set, hash, joined);
	return joined;
}

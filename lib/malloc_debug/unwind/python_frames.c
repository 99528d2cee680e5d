#include "lib/malloc_debug/unwind/python_frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "lib/malloc_debug/unwind/own_memory.h"
#include "lib/malloc_debug/unwind/python_lines.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "mu/sys.h"
#include "mu/text.h"

#define DIRECT 0xff   /* the thread's state has the frame itself */
#define NO_OWNER 0xff /* all frames are of functions */
#define OWNER_C 3     /* of the interpreter's entry, FRAME_OWNED_BY_CSTACK */

#define OBJECT_TYPE 8 /* bytes to PyObject.ob_type */
#define BYTES_VALUE 32
#define NO_HASH UINTPTR_MAX
#define TEXT_COMPACT (1u << 5)
#define TEXT_ASCII (1u << 6)
#define TEXT_KIND(state) ((state) >> 2 & 7) /* bytes a letter */

#define FRAME_MOST 128 /* bytes that are read of a frame, a code object */
#define CODE_MOST 144
#define TABLE_MOST ((size_t)4096) /* and of a table, without the GIL */
#define HASHED ((size_t)128)      /* bytes, a multiple of 8 */
#define KNOWN 12                  /* sets of a table: 256 KiB */
#define PLAIN (-1)                /* read in place */
#define STEPS 4 /* frames that are looked at for each that is wanted */

enum position {
	POSITION_BYTES,   /* an int, until 3.9 */
	POSITION_UNITS,   /* of 2 bytes */
	POSITION_POINTER, /* to the instruction */
};

/* Offsets in bytes, of builds without Py_TRACE_REFS and Py_GIL_DISABLED. */
struct layout {
	uint8_t thread, state, current; /* PyThreadState; _PyCFrame between */
	uint8_t back, code, position, owner; /* of a frame */
	uint8_t kind;                        /* enum position */
	uint8_t table_kind;                  /* enum python_table */
	/* PyCodeObject */
	uint8_t file, name, first, table, start;
	uint8_t ascii, wide; /* to the letters of a text */
};

/* CPython 3.6, 3.7 ...; from the headers of these. */
static const struct layout layouts[] = {
	{ 152, 24, DIRECT, 24, 32, 120, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB,
	    96, 104, 36, 112, 0, 48, 72 },
	{ 176, 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB,
	    96, 104, 36, 112, 0, 48, 72 },
	{ 176, 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB,
	    104, 112, 40, 120, 0, 48, 72 },
	{ 176, 24, DIRECT, 24, 32, 104, NO_OWNER, POSITION_BYTES, PYTHON_LNOTAB,
	    104, 112, 40, 120, 0, 48, 72 },
	{ 176, 24, DIRECT, 24, 32, 96, NO_OWNER, POSITION_UNITS, PYTHON_LINES,
	    104, 112, 40, 120, 0, 48, 72 },
	{ 152, 56, 8, 48, 32, 56, 69, POSITION_POINTER, PYTHON_LOCATIONS, 112,
	    128, 72, 136, 184, 48, 72 },
	{ 136, 56, 0, 8, 0, 56, 70, POSITION_POINTER, PYTHON_LOCATIONS, 112,
	    128, 68, 136, 192, 40, 56 },
	{ 152, 72, DIRECT, 8, 0, 56, 70, POSITION_POINTER, PYTHON_LOCATIONS,
	    112, 128, 68, 136, 200, 40, 56 },
};

#define FIRST_MINOR 6
#define FIRST_OWN_STATE 12 /* the first state is that of the interpreter */
#define NUM_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Results by hashes: lines, and stacks that have them. */
struct known {
	struct stack_known lines[1u << KNOWN][KNOWN_WAYS];
	struct stack_known stacks[1u << KNOWN][KNOWN_WAYS];
};

static struct {
	const struct layout *at;
	/* The first state of this thread; NULL: it never had the GIL. */
	void *(*this_state)(void);
	/* The state that has the GIL; since 3.12 NULL if it is another's. */
	void *(*current_state)(void);
	/* The newest interpreter; NULL since 3.12. */
	void *(*newest)(void);
	uintptr_t code_type, text_type, bytes_type;
	uintptr_t loop, loop_size; /* the function that executes Python */
	struct known *known;
	bool proven; /* AT is right */
} python;

bool python_frames_there;

/* dlsym() of a name that is not there allocates, for dlerror(). */
#define WEAK __attribute__((weak))
extern const char *Py_GetVersion(void) WEAK;
extern void *PyGILState_GetThisThreadState(void) WEAK;
extern void *_PyThreadState_UncheckedGet(void) WEAK; /* until 3.12 */
extern void *PyThreadState_GetUnchecked(void) WEAK;
extern void *PyInterpreterState_Head(void) WEAK;
extern void *_PyEval_EvalFrameDefault(void) WEAK;
extern char PyCode_Type[] WEAK, PyUnicode_Type[] WEAK, PyBytes_Type[] WEAK;

/* A text, or bytes, of which only the first two are read. */
struct part {
	uintptr_t at;
	struct {
		uintptr_t type, length, hash, state;
	} head;
};

struct code {
	uintptr_t at;
	size_t position; /* of the instruction, bytes from the first one */
	int first;       /* line */
	struct part file, name, table;
};

struct frame {
	uintptr_t code, back, position;
	bool function;
};

/* "3.11.2 (main, ...": 11; 0 for others. */
static unsigned
minor_of(const char *version)
{
	unsigned minor = 0;

	if (version == NULL || strncmp(version, "3.", 2) != 0)
		return 0;
	for (version += 2; *version >= '0' && *version <= '9'; version++)
		minor = 10 * minor + (unsigned)(*version - '0');
	return minor;
}

static bool
find_loop(void)
{
	const ElfW(Sym) *entry = NULL;
	Dl_info info;

	python.loop = (uintptr_t)_PyEval_EvalFrameDefault;
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
	unsigned minor = Py_GetVersion == NULL ? 0 : minor_of(Py_GetVersion());

	if (minor < FIRST_MINOR || minor - FIRST_MINOR >= NUM_LAYOUTS)
		return;
	python.at = &layouts[minor - FIRST_MINOR];
	python.this_state = PyGILState_GetThisThreadState;
	python.current_state = PyThreadState_GetUnchecked != NULL
	    ? PyThreadState_GetUnchecked
	    : _PyThreadState_UncheckedGet;
	if (minor < FIRST_OWN_STATE)
		python.newest = PyInterpreterState_Head;
	python.code_type = (uintptr_t)PyCode_Type;
	python.text_type = (uintptr_t)PyUnicode_Type;
	python.bytes_type = (uintptr_t)PyBytes_Type;
	python_frames_there = python.this_state != NULL &&
	    python.current_state != NULL && python.code_type != 0 &&
	    python.text_type != 0 && python.bytes_type != 0 && find_loop() &&
	    map_known();
	own_memory_init();
}

static void
give_up(void)
{
	__atomic_store_n(&python_frames_there, false, __ATOMIC_RELEASE);
}

/*
 * Read SIZE bytes at AT. CARE is PLAIN, or a handle of own_memory_open(): they
 * may be gone, as another thread frees the state of one that does not have the
 * GIL, or ends the interpreter.
 */
static bool
take(int care, void *to, uintptr_t at, size_t size)
{
	ssize_t n;

	if (care == PLAIN) {
		memcpy(to, (const void *)at, size);
		return true;
	}
	n = own_memory_read(care, to, size, at);
	if (n < 0 && n != -EFAULT)
		give_up();
	return n == (ssize_t)size;
}

static bool
take_part(int care, struct part *part, uintptr_t at, uintptr_t type)
{
	part->at = at;
	return take(care, &part->head, at + OBJECT_TYPE,
		   type == python.text_type ? sizeof(part->head)
					    : 2 * sizeof(uintptr_t)) &&
	    part->head.type == type;
}

static uintptr_t
word_in(const char *bytes, size_t at)
{
	uintptr_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static int
int_in(const char *bytes, size_t at)
{
	int number;

	memcpy(&number, bytes + at, sizeof(number));
	return number;
}

static bool
take_code(int care, struct code *code, const struct frame *frame)
{
	const struct layout *at = python.at;
	char bytes[CODE_MOST];

	code->at = frame->code;
	if (code->at == 0 || code->at % sizeof(uintptr_t) != 0 ||
	    !take(care, bytes, code->at, at->table + sizeof(uintptr_t)) ||
	    word_in(bytes, OBJECT_TYPE) != python.code_type)
		return false;
	code->first = int_in(bytes, at->first);
	code->position = at->kind == POSITION_POINTER
	    ? frame->position - code->at - at->start
	    : frame->position;
	return take_part(care, &code->file, word_in(bytes, at->file),
		   python.text_type) &&
	    take_part(care, &code->name, word_in(bytes, at->name),
		python.text_type) &&
	    take_part(care, &code->table, word_in(bytes, at->table),
		python.bytes_type);
}

/* How much is read of a frame: it may end at the end of its memory. */
static size_t
frame_size(void)
{
	const struct layout *at = python.at;
	size_t size = at->position + sizeof(uintptr_t);

	return at->owner != NO_OWNER && at->owner >= size
	    ? at->owner + (size_t)1
	    : size;
}

static bool
take_frame(int care, struct frame *frame, uintptr_t address)
{
	const struct layout *at = python.at;
	char bytes[FRAME_MOST];
	int number;

	if (!take(care, bytes, address, frame_size()))
		return false;
	frame->code = word_in(bytes, at->code);
	frame->back = word_in(bytes, at->back);
	frame->position = word_in(bytes, at->position);
	frame->function = at->owner == NO_OWNER || bytes[at->owner] != OWNER_C;
	if (at->kind == POSITION_POINTER)
		return true;
	number = int_in(bytes, at->position);
	frame->position = number < 0 ? 0 : (uintptr_t)number;
	if (at->kind == POSITION_UNITS)
		frame->position *= 2;
	return true;
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

	if (letter == 0)
		letter = '?';
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
letter_in(const char *letters, size_t i, size_t kind)
{
	uint32_t letter = 0;

	memcpy(&letter, letters + i * kind, kind); /* little-endian */
	return letter;
}

/*
 * Store a text in the depot; of a long one the beginning, and what tells it
 * from others. Returns its unit, or 0.
 */
static uint32_t
text_unit(int care, const struct part *part)
{
	uint32_t letters[SCRIPT_TEXT_MOST];
	union script_text kept = { { 0 } };
	unsigned state = (unsigned)part->head.state;
	size_t i, length = part->head.length, size = 0;
	size_t kind = TEXT_KIND(state);
	bool long_one = length > SCRIPT_TEXT_MOST / 2;

	if (long_one)
		length = SCRIPT_TEXT_MOST / 2;
	if ((state & TEXT_COMPACT) == 0 || kind > sizeof(uint32_t) ||
	    !take(care, letters,
		part->at +
		    ((state & TEXT_ASCII) != 0 ? python.at->ascii
					       : python.at->wide),
		length * kind))
		return 0;
	for (i = 0; i < length && size < SCRIPT_TEXT_MOST - 64; i++)
		size += put_letter(kept.bytes + size,
		    letter_in((const char *)letters, i, kind));
	if (long_one || i < length)
		size +=
		    mu_text_format(kept.bytes + size, SCRIPT_TEXT_MOST - size,
			"... (%zu letters)", (size_t)part->head.length);
	return script_text_put(&kept, size);
}

/* Store the line in the depot. Returns its frame, or 0. */
static uint64_t
make_line(int care, const struct code *code)
{
	const struct layout *at = python.at;
	const unsigned char *table =
	    (const unsigned char *)code->table.at + BYTES_VALUE;
	size_t size = code->table.head.length;
	unsigned char copy[TABLE_MOST];
	int line = 0;

	if (care != PLAIN && size > TABLE_MOST)
		size = TABLE_MOST;
	if (care != PLAIN && !take(care, copy, (uintptr_t)table, size))
		return 0;
	line = python_line((enum python_table)at->table_kind,
	    care == PLAIN ? table : copy, size, code->first, code->position);
	return script_line_put(text_unit(care, &code->file),
	    text_unit(care, &code->name), line > 0 ? (unsigned)line : 0);
}

/* Of the SIZE bytes at AT; of many, of the first and the last ones. */
static bool
add_bytes(int care, uint64_t *hash, uintptr_t at, size_t size)
{
	uint64_t words[2 * HASHED / 8] = { 0 };
	char *bytes = (char *)words;

	if (size <= sizeof(words)) {
		if (!take(care, bytes, at, size))
			return false;
	} else if (!take(care, bytes, at, HASHED) ||
	    !take(care, bytes + HASHED, at + size - HASHED, HASHED)) {
		return false;
	}
	*hash =
	    (*hash ^ size ^
		depot_hash(words,
		    size < sizeof(words) ? (size + 7) / 8 : sizeof(words) / 8,
		    0)) *
	    LAYOUT_MIX;
	return true;
}

/* Names have a hash, as dictionaries have them as keys; files may have none. */
static bool
add_text(int care, uint64_t *hash, const struct part *text)
{
	size_t kind = TEXT_KIND((unsigned)text->head.state);

	*hash = (*hash ^ text->head.hash) * LAYOUT_MIX;
	return text->head.hash != NO_HASH ||
	    add_bytes(care, hash, text->at + python.at->ascii,
		text->head.length * kind);
}

/*
 * A code object may be freed, and another one be made at its address with its
 * parts at the addresses of those before: what they consist of counts.
 */
static bool
hash_of(int care, const struct code *code, uint64_t *hash)
{
	*hash = code->at * LAYOUT_MIX;
	*hash =
	    (*hash ^ code->position << 32 ^ (uint32_t)code->first) * LAYOUT_MIX;
	return add_text(care, hash, &code->file) &&
	    add_text(care, hash, &code->name) &&
	    add_bytes(care, hash, code->table.at + BYTES_VALUE,
		code->table.head.length);
}

static uint64_t
find_line(int care, const struct code *code)
{
	struct stack_known *set;
	uint64_t hash, line;

	if (!hash_of(care, code, &hash))
		return 0;
	hash ^= hash >> 32;
	hash *= LAYOUT_MIX;
	set = python.known->lines[hash >> (64 - KNOWN)];
	line = stack_known_get(set, hash);
	if (line == 0) {
		line = make_line(care, code);
		if (line != 0)
			stack_known_note(set, hash, line);
	}
	return line;
}

/*
 * The lines of the frames from FRAME on. Returns 0 if one is not as it should
 * be.
 */
static size_t
walk(int care, uintptr_t address, uintptr_t *lines, size_t max)
{
	size_t count = 0, steps = STEPS * max;
	struct frame frame;
	struct code code;

	for (; address != 0 && count < max && steps > 0; steps--) {
		if (!take_frame(care, &frame, address))
			return 0;
		if (frame.function) {
			if (!take_code(care, &code, &frame))
				return 0;
			lines[count] = find_line(care, &code);
			if (lines[count++] == 0)
				return 0;
		}
		address = frame.back;
	}
	return count;
}

/*
 * Before 3.12 a thread without the GIL may be in another interpreter than that
 * of its first state. The newest one begins with a pointer to the one before.
 */
static bool
is_only_interpreter(int care)
{
	uintptr_t newest, before;

	if (python.newest == NULL)
		return true;
	newest = (uintptr_t)python.newest();
	return newest != 0 && take(care, &before, newest, sizeof(before)) &&
	    before == 0;
}

/*
 * Before 3.12 a thread in another interpreter than that of its first state has
 * the GIL by another one; CURRENT may be another thread's.
 */
static bool
is_of_thread(int care, uintptr_t current)
{
	uintptr_t thread;

	return current != 0 &&
	    take(care, &thread, current + python.at->thread, sizeof(thread)) &&
	    thread == (uintptr_t)pthread_self();
}

/* The innermost frame of STATE, or 0. */
static uintptr_t
innermost(int care, uintptr_t state)
{
	const struct layout *at = python.at;
	uintptr_t frame;

	if (!take(care, &frame, state + at->state, sizeof(frame)) || frame == 0)
		return 0;
	return at->current == DIRECT ||
		take(care, &frame, frame + at->current, sizeof(frame))
	    ? frame
	    : 0;
}

/* CARE is not PLAIN if FIRST is not CURRENT, or nothing is proven yet. */
static size_t
lines_of_thread(
    int care, uintptr_t first, uintptr_t current, uintptr_t *lines, size_t max)
{
	bool proven = __atomic_load_n(&python.proven, __ATOMIC_ACQUIRE);
	bool locked = current == first || is_of_thread(care, current);
	uintptr_t frame;
	size_t count;

	if (!locked && !is_only_interpreter(care))
		return 0;
	if (locked && proven)
		care = PLAIN;
	frame = innermost(care, locked ? current : first);
	count = frame == 0 ? 0 : walk(care, frame, lines, max);
	if (frame == 0 || !locked || proven)
		return count;
	/* A build may have another layout. */
	if (count == 0)
		give_up();
	else
		__atomic_store_n(&python.proven, true, __ATOMIC_RELEASE);
	return count;
}

static size_t
find_lines(uintptr_t *lines, size_t max)
{
	uintptr_t first = (uintptr_t)python.this_state();
	uintptr_t current = (uintptr_t)python.current_state();
	int care = PLAIN;
	size_t count;

	if (first == 0)
		return 0;
	if (current != first ||
	    !__atomic_load_n(&python.proven, __ATOMIC_ACQUIRE)) {
		care = own_memory_open();
		if (care < 0)
			return 0;
	}
	count = lines_of_thread(care, first, current, lines, max);
	if (care != PLAIN)
		own_memory_close(care);
	return count;
}

/*
 * How many of CALLS are up to the interpreter's loop; half of them if it may
 * be behind the last one; 0: the thread is not in Python.
 */
static size_t
calls_of_loop(const struct mu_stack *calls, size_t max)
{
	size_t i;

	for (i = 0; i < calls->num_frames; i++)
		if (calls->frames[i] - python.loop < python.loop_size)
			return i + 1 < max ? i + 1 : max / 2;
	return calls->num_frames < max ? 0 : max / 2;
}

/* The first INNER frames of CALLS, followed by LINES. Returns their unit. */
static uint32_t
join(const struct mu_stack *calls, size_t inner, const uintptr_t *lines,
    size_t count, size_t max)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];

	if (count > max - inner)
		count = max - inner;
	memcpy(frames, calls->frames, inner * sizeof(*frames));
	memcpy(&frames[inner], lines, count * sizeof(*frames));
	return stack_depot_put(frames, inner + count, calls->flags);
}

uint32_t
python_frames_put(uint32_t unit, size_t max)
{
	const struct mu_stack *calls = depot_memory_at(unit);
	size_t i, count, inner = calls_of_loop(calls, max);
	uintptr_t lines[MU_STACK_MAX_FRAMES];
	struct stack_known *set;
	uint64_t hash;
	uint32_t joined;

	count = inner == 0 ? 0 : find_lines(lines, max);
	if (count == 0)
		return unit;
	hash = unit * LAYOUT_MIX;
	for (i = 0; i < count; i++)
		hash = (hash ^ lines[i] ^ hash >> 32) * LAYOUT_MIX;
	set = python.known->stacks[hash >> (64 - KNOWN)];
	joined = (uint32_t)stack_known_get(set, hash);
	if (joined == 0) {
		joined = join(calls, inner, lines, count, max);
		if (joined != 0)
			stack_known_note(set, hash, joined);
	}
	return joined;
}

#include "lib/look/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/heaps/spans.h"
#include "lib/look/bytes.h"
#include "lib/look/sections.h"
#include "lib/term/safe_text.h"
#include "memunreachable/memunreachable.h"
#include "mu/sort.h"

#define FRAMES 256u                   /* of a stack */
#define NAME_MOST 4096u               /* bytes of a name */
#define WIRE_MOST ((uint64_t)1 << 30) /* bytes of names */
#define ARENAS_MOST 65536u

struct reading {
	struct mu_look_file *look;
	struct mu_bytes_in in;
	bool no_memory;
};

static bool
failed(const struct reading *reading)
{
	return reading->in.bad || reading->no_memory;
}

static void
require(struct reading *reading, bool right)
{
	reading->in.bad |= !right;
}

/* COUNT objects of SIZE bytes; NULL: there is no memory. */
static void *
make(struct reading *reading, size_t count, size_t size)
{
	void *made = failed(reading)
	    ? NULL
	    : mu_arena_alloc(&reading->look->arena, count + 1, size);

	reading->no_memory |= made == NULL && !reading->in.bad;
	return made;
}

/* A table that grows with what is read: a count alone takes no memory. */
#define ROOM(reading, items, count, max)                                      \
	(!failed(reading) &&                                                  \
	    (mu_arena_room(&(reading)->look->arena, items, count, max, 64) || \
		((reading)->no_memory = true, false)))

static uint64_t
number(struct reading *reading)
{
	return mu_get_number(&reading->in);
}

static uint64_t
most(struct reading *reading, uint64_t limit)
{
	return mu_get_most(&reading->in, limit);
}

static bool
flag(struct reading *reading)
{
	return most(reading, 1) == 1;
}

/* Not empty. */
static struct mu_range
range(struct reading *reading)
{
	uintptr_t begin = (uintptr_t)number(reading);
	uintptr_t size = (uintptr_t)number(reading);

	require(reading, size > 0 && begin + size > begin);
	return (struct mu_range) { begin, begin + size };
}

/* The same, or empty. */
static struct mu_range
range_or_none(struct reading *reading)
{
	uintptr_t begin = (uintptr_t)number(reading);
	uintptr_t size = (uintptr_t)number(reading);

	require(reading, begin + size >= begin);
	return (struct mu_range) { begin, begin + size };
}

/* A string of at most LIMIT bytes in the look's memory; "" if it is bad. */
static const char *
string(struct reading *reading)
{
	size_t length = most(reading, NAME_MOST);
	char *text = make(reading, length, 1);

	if (text == NULL)
		return "";
	mu_get_bytes(&reading->in, text, length);
	require(reading, strlen(text) == length);
	return text;
}

static void
string_into(struct reading *reading, char *text, size_t size)
{
	size_t length = most(reading, size - 1);

	memset(text, 0, size);
	mu_get_bytes(&reading->in, text, length);
	require(reading, strlen(text) == length);
}

static void
section(struct reading *reading, enum mu_look_section wanted)
{
	require(reading, number(reading) == wanted);
}

static void
read_subject(struct reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	uint64_t flags;

	section(reading, MU_LOOK_SUBJECT);
	require(reading, number(reading) == sizeof(uintptr_t));
	snap->glibc_major = (unsigned)most(reading, UINT16_MAX);
	snap->glibc_minor = (unsigned)most(reading, UINT16_MAX);
	require(reading, snap->glibc_major > 0);
	flags = number(reading);
	snap->glibc_inferred = (flags & MU_LOOK_INFERRED) != 0;
	reading->look->saved.contents = (flags & MU_LOOK_CONTENTS) != 0;
	snap->reach = (struct mu_reach) {
		.no_globals = (flags & MU_LOOK_NO_GLOBALS) != 0,
		.no_stacks = (flags & MU_LOOK_NO_STACKS) != 0,
		.no_registers = (flags & MU_LOOK_NO_REGISTERS) != 0,
		.no_tls = (flags & MU_LOOK_NO_TLS) != 0,
		.no_regions = (flags & MU_LOOK_NO_REGIONS) != 0,
		.words.unaligned = (flags & MU_LOOK_UNALIGNED) != 0,
	};
	snap->reach.words.tags = (uintptr_t)number(reading);
}

static void
read_mappings(struct reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	uint64_t flags, left;
	struct mu_mapping *mapping;
	uintptr_t last = 0;
	size_t max = 0;

	section(reading, MU_LOOK_MAPPINGS);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, snap->mappings, snap->num_mappings, max))
			return;
		mapping = &snap->mappings[snap->num_mappings];
		*mapping = (struct mu_mapping) { .range = range(reading) };
		mapping->range.begin += last;
		mapping->range.end += last;
		require(reading,
		    mapping->range.begin >= last &&
			mapping->range.end > mapping->range.begin);
		last = mapping->range.end;
		flags = number(reading);
		mapping->readable = (flags & MU_LOOK_READABLE) != 0;
		mapping->writable = (flags & MU_LOOK_WRITABLE) != 0;
		mapping->executable = (flags & MU_LOOK_EXECUTABLE) != 0;
		mapping->shared = (flags & MU_LOOK_SHARED) != 0;
		mapping->offset = number(reading);
		mapping->dev_major = (unsigned)most(reading, UINT32_MAX);
		mapping->dev_minor = (unsigned)most(reading, UINT32_MAX);
		mapping->inode = number(reading);
		mapping->name = string(reading);
		snap->num_mappings++;
	}
}

static uintptr_t *
read_words(struct reading *reading, size_t *count)
{
	uintptr_t *words = NULL;
	size_t max = 0;
	uint64_t left;

	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, words, *count, max))
			return words;
		words[(*count)++] = (uintptr_t)number(reading);
	}
	return words;
}

static void
read_thread(
    struct reading *reading, struct mu_thread *thread, struct mu_owner *owner)
{
	size_t values = reading->look->snap.num_values;

	*thread = (struct mu_thread) { .call = -1 };
	thread->tid = (pid_t)most(reading, INT32_MAX);
	thread->sp = (uintptr_t)number(reading);
	thread->pc = (uintptr_t)number(reading);
	thread->tp = (uintptr_t)number(reading);
	thread->first_value = most(reading, values);
	thread->num_values = most(reading, values - thread->first_value);
	owner->stack = range_or_none(reading);
	owner->tls = range_or_none(reading);
	owner->variables = (uintptr_t)number(reading);
}

static void
read_tls_blocks(struct reading *reading)
{
	struct mu_owners *owners = &reading->look->owners;
	struct mu_tls_block *block;
	uint64_t left;

	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, owners->blocks, owners->num_blocks,
			owners->max_blocks))
			return;
		block = &owners->blocks[owners->num_blocks++];
		block->range = range(reading);
		block->thread = number(reading);
		require(reading,
		    block->thread < reading->look->snap.num_threads &&
			(owners->num_blocks == 1 ||
			    block[-1].range.begin <= block->range.begin));
	}
}

static void
read_threads(struct reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	struct mu_owners *owners = &reading->look->owners;
	size_t i, max = 0, max_owners = 0;
	uint64_t left;

	section(reading, MU_LOOK_THREADS);
	snap->values = read_words(reading, &snap->num_values);
	snap->regnos = make(reading, snap->num_values, sizeof(*snap->regnos));
	for (i = 0; i < snap->num_values && !failed(reading); i++)
		snap->regnos[i] = (uint16_t)most(reading, UINT16_MAX);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, snap->threads, snap->num_threads, max) ||
		    !ROOM(reading, owners->threads, snap->num_threads,
			max_owners))
			return;
		read_thread(reading, &snap->threads[snap->num_threads],
		    &owners->threads[snap->num_threads]);
		snap->num_threads++;
	}
	read_tls_blocks(reading);
}

static void
read_roots(struct reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_snapshot *snap = &look->snap;
	struct mu_roots *roots = &look->roots;
	size_t max = 0, max_regions = 0;
	struct mu_root *root;
	uint64_t left;

	section(reading, MU_LOOK_ROOTS);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, roots->ranges, roots->num_ranges, max))
			return;
		root = &roots->ranges[roots->num_ranges++];
		*root = (struct mu_root) { .range = range(reading) };
		root->kind = (enum mu_root_kind)most(reading, MU_ROOT_REGION);
		root->code = flag(reading);
		root->view = mu_look_image_at(&look->image, root->range);
		require(reading, root->view != NULL);
		roots->bytes += mu_range_size(root->range);
	}
	roots->values = read_words(reading, &roots->num_values);
	snap->kernel_values = read_words(reading, &snap->num_kernel_values);
	snap->root_values = read_words(reading, &snap->num_root_values);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, snap->root_regions, snap->num_root_regions,
			max_regions))
			return;
		snap->root_regions[snap->num_root_regions++] = range(reading);
	}
}

static void
read_usage(struct reading *reading)
{
	struct mu_heap_usage *usage = &reading->look->usage;
	struct mu_arena_usage *arena;
	size_t max = 0;
	uint64_t left;

	section(reading, MU_LOOK_USAGE);
	usage->live_reachable = number(reading);
	usage->free_held = number(reading);
	usage->overhead = number(reading);
	usage->mmapped = number(reading);
	usage->mmapped_live = number(reading);
	usage->mmapped_free = number(reading);
	usage->mmapped_unproven = number(reading);
	usage->unproven = number(reading);
	for (left = most(reading, ARENAS_MOST); left > 0; left--) {
		if (!ROOM(reading, usage->arenas, usage->num_arenas, max))
			return;
		arena = &usage->arenas[usage->num_arenas++];
		arena->address = (uintptr_t)number(reading);
		arena->span = number(reading);
		arena->live = number(reading);
		arena->bins = number(reading);
		arena->fastbins = number(reading);
		arena->tcache = number(reading);
		arena->top = number(reading);
		arena->overhead = number(reading);
	}
}

/* The bounds of SPAN; each block ends at the next one. */
static void
read_bounds(struct reading *reading, struct mu_span *span)
{
	size_t grains = mu_range_size(span->range) / MU_GRAIN, grain = 0, begin;
	bool live = false;
	uint64_t left, bound;

	for (left = number(reading); left > 0 && !failed(reading); left--) {
		begin = grain;
		bound = number(reading);
		require(reading, bound >> 1 <= grains - grain);
		if (reading->in.bad)
			return;
		grain += bound >> 1;
		span->bytes +=
		    live ? (grain - begin) * MU_GRAIN - span->tail : 0;
		/* The first may be at the beginning, none at the same place. */
		require(reading, !live || grain > begin);
		live = (bound & 1) != 0;
		span->count += live;
		mu_span_begin(span, grain, live, 0);
	}
	require(reading, !live);
}

static void
read_spans(struct reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range whole;
	struct mu_span *span;
	const char *view;
	uint64_t left;
	size_t tail;

	for (left = number(reading); left > 0 && !failed(reading); left--) {
		whole = range(reading);
		tail = most(reading, MU_GRAIN - 1);
		view = mu_look_image_at(&look->image, whole);
		require(reading,
		    view != NULL && whole.begin % MU_GRAIN == 0 &&
			whole.end % MU_GRAIN == 0);
		if (failed(reading))
			return;
		span = mu_blocks_add_span(&look->blocks, whole, view);
		reading->no_memory = span == NULL;
		if (span == NULL)
			return;
		span->tail = tail;
		read_bounds(reading, span);
	}
}

static void
read_blocks(struct reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range block;
	const char *view;
	uint64_t left;

	section(reading, MU_LOOK_BLOCKS);
	mu_blocks_open(&look->blocks, &look->arena);
	read_spans(reading);
	for (left = number(reading); left > 0 && !failed(reading); left--) {
		block = range(reading);
		view = mu_look_image_at(&look->image, block);
		require(reading, view != NULL);
		if (!failed(reading))
			reading->no_memory = mu_blocks_add(&look->blocks, block,
						 view, flag(reading)) != MU_OK;
	}
}

static bool
read_chunk(struct reading *reading, uintptr_t *address, uintptr_t *other)
{
	struct mu_look_image *image = &reading->look->image;
	uint64_t gaps[MU_LOOK_CHUNK];
	size_t i, count = most(reading, MU_LOOK_CHUNK);
	uintptr_t from, word;

	for (i = 0; i < count; i++)
		gaps[i] = number(reading);
	for (i = 0; i < count && !failed(reading); i++) {
		*address += (uintptr_t)mu_unzigzag(gaps[i] >> 1);
		from = (gaps[i] & 1) != 0 ? *other : *address;
		word = from + (uintptr_t)mu_get_signed(&reading->in);
		if ((gaps[i] & 1) != 0)
			*other = word;
		if (mu_look_image_put(image, *address, word))
			continue;
		reading->no_memory = image->written > image->limit;
		require(reading, reading->no_memory);
	}
	return count > 0 && !failed(reading);
}

static void
read_lost(struct reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range *lost;
	uintptr_t last = 0;
	size_t max = 0, max_marks = 0;
	uint64_t left;

	section(reading, MU_LOOK_LOST);
	/* No NULL: that would be no list. */
	look->lost = make(reading, 0, sizeof(*look->lost));
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, look->lost, look->num_lost, max) ||
		    !ROOM(reading, look->marks, look->num_lost, max_marks))
			return;
		lost = &look->lost[look->num_lost++];
		*lost = range(reading);
		lost->begin += last;
		lost->end += last;
		require(
		    reading, lost->begin >= last && lost->end > lost->begin);
		look->marks[look->num_lost - 1] =
		    (uint16_t)most(reading, UINT16_MAX);
		last = lost->begin;
	}
}

static void
read_items(struct reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_recorded_item *items, *item;
	size_t max = 0;
	uintptr_t last = 0;
	uint64_t gap;

	items = make(reading, 0, sizeof(*items));
	while ((gap = number(reading)) != 0) {
		if (!ROOM(reading, items, recorder->num_items, max))
			break;
		item = &items[recorder->num_items++];
		*item = (struct mu_recorded_item) { .begin =
							last + (uintptr_t)gap };
		item->at = item->begin + (uintptr_t)number(reading);
		item->size = number(reading);
		item->stack = (uint32_t)most(reading, UINT32_MAX);
		require(reading,
		    item->begin > last && item->at >= item->begin &&
			item->at + item->size >= item->at);
		last = item->begin;
	}
	recorder->items = items;
}

static void
read_frames(struct reading *reading, struct mu_recorded_stack *stack)
{
	size_t i, count = most(reading, FRAMES);
	uintptr_t last = 0, *frames = make(reading, count, sizeof(*frames));

	for (i = 0; i < count && frames != NULL; i++) {
		last += (uintptr_t)mu_get_signed(&reading->in);
		frames[i] = last;
	}
	stack->frames = frames;
	stack->num_frames = frames == NULL ? 0 : (uint32_t)count;
}

static void
read_unloaded(struct reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_unloaded *module;
	size_t max = 0;
	uint64_t left;

	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, recorder->unloaded, recorder->num_unloaded,
			max))
			return;
		module = &recorder->unloaded[recorder->num_unloaded++];
		module->range = range(reading);
		module->offset = number(reading);
		module->path = string(reading);
		module->build_id = string(reading);
		require(reading,
		    recorder->num_unloaded == 1 ||
			module[-1].range.end <= module->range.begin);
	}
}

static void
read_stacks(struct reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_recorded_stack *stacks = NULL, *stack;
	size_t max = 0;
	uint64_t left;

	section(reading, MU_LOOK_STACKS);
	if (!flag(reading))
		return;
	recorder->header.sample_bytes = number(reading);
	recorder->header.max_frames = (uint32_t)most(reading, FRAMES);
	read_items(reading);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, stacks, recorder->num_stacks, max))
			return;
		stack = &stacks[recorder->num_stacks++];
		stack->id = (uint32_t)most(reading, UINT32_MAX);
		require(reading,
		    recorder->num_stacks == 1 || stack[-1].id < stack->id);
		read_frames(reading, stack);
	}
	recorder->stacks = stacks;
	read_unloaded(reading);
	reading->look->saved.recorder = recorder;
}

static void
read_names(struct reading *reading)
{
	struct mu_kept_names *names = &reading->look->names;
	struct mu_kept_question *questions = NULL, *question;
	uint64_t last = 0, left, size, answers;
	size_t max = 0;
	char *bytes;

	section(reading, MU_LOOK_NAMES);
	for (left = number(reading); left > 0; left--) {
		if (!ROOM(reading, questions, names->num_questions, max))
			return;
		question = &questions[names->num_questions++];
		question->kind = (uint32_t)most(reading, MU_KEPT_KINDS);
		last += (uint64_t)mu_get_signed(&reading->in);
		question->address = last;
		question->answer = (uint32_t)most(reading, UINT32_MAX);
	}
	names->questions = questions;
	answers = number(reading);
	size = most(reading, WIRE_MOST);
	bytes = make(reading, size, 1);
	if (bytes == NULL)
		return;
	mu_get_bytes(&reading->in, bytes, size);
	if (!failed(reading))
		require(
		    reading, mu_kept_names_replay(names, bytes, size, answers));
}

static bool
is_stop(const char *word)
{
	static const char *const words[] = { "fork", "read", "core", "exit",
		"ptrace", "signal", "" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static void
read_outcome(struct reading *reading)
{
	struct mu_look_outcome *outcome = &reading->look->outcome;

	section(reading, MU_LOOK_OUTCOME);
	outcome->pid = (pid_t)most(reading, INT32_MAX);
	string_into(reading, outcome->program, sizeof(outcome->program));
	string_into(reading, outcome->stop, sizeof(outcome->stop));
	require(reading, is_stop(outcome->stop));
	outcome->real_ns = number(reading);
	outcome->status = (int)most(reading, MEMUNREACHABLE_PARTIAL);
	string_into(reading, outcome->reason, sizeof(outcome->reason));
	outcome->cure = most(reading, strlen(outcome->reason));
	outcome->pause_ns = number(reading);
	outcome->tries = (unsigned)most(reading, INT32_MAX);
	string_into(reading, outcome->names_note, sizeof(outcome->names_note));
	require(reading,
	    outcome->status == MEMUNREACHABLE_COMPLETE ||
		outcome->status == MEMUNREACHABLE_PARTIAL);
	require(reading, !failed(reading) && mu_bytes_in_ends(&reading->in));
}

static void
read_all(struct reading *reading, size_t limit)
{
	struct mu_look_file *look = reading->look;
	uintptr_t address = 0, other = 0;

	read_subject(reading);
	read_mappings(reading);
	if (failed(reading))
		return;
	if (!mu_look_image_open(
		&look->image, &look->snap, limit, &look->arena)) {
		reading->no_memory = true;
		return;
	}
	read_threads(reading);
	read_roots(reading);
	read_usage(reading);
	read_blocks(reading);
	section(reading, MU_LOOK_WORDS);
	while (read_chunk(reading, &address, &other))
		continue;
	read_lost(reading);
	read_stacks(reading);
	read_names(reading);
	read_outcome(reading);
}

bool
mu_look_file_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[sizeof(MU_LOOK_MAGIC)];
	bool is = fd >= 0 &&
	    pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    memcmp(magic, MU_LOOK_MAGIC, sizeof(magic)) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

enum mu_status
mu_look_file_read(struct mu_look_file *look, const void *bytes, size_t size,
    size_t limit, struct mu_why *why)
{
	struct reading reading = { .look = look };
	uint64_t version = 0;
	bool is_look, bad;

	*look = (struct mu_look_file) { .snap = { .only_moment = true } };
	mu_arena_open(&look->arena, limit);
	look->saved = (struct mu_saved) {
		.blocks = &look->blocks,
		.usage = &look->usage,
		.roots = &look->roots,
		.owners = &look->owners,
	};
	look->snap.saved = &look->saved;
	is_look = mu_bytes_in_open(&reading.in, bytes, size, &version);
	if (is_look && version == MU_LOOK_VERSION)
		read_all(&reading, limit);
	bad = reading.in.bad;
	mu_bytes_in_close(&reading.in);
	if (!is_look)
		return mu_why(why, MU_ERR_ARGUMENT, "it is no saved look");
	if (version != MU_LOOK_VERSION)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it has version %u of the format, and this command reads"
		    " %u" MU_CURE "use the command that wrote it",
		    (unsigned)version, MU_LOOK_VERSION);
	if (reading.no_memory)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "there is no memory to show it" MU_CURE
		    "give it more (--max-memory)");
	if (bad)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it is damaged, or was not written to its end");
	return MU_OK;
}

/* All of FD, for free(); NULL with errno. */
static char *
read_file(int fd, size_t *size)
{
	struct stat status;
	size_t room;
	char *bytes;
	ssize_t n = 0;

	if (fstat(fd, &status) != 0)
		return NULL;
	room = S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
	bytes = malloc(room + 1);
	for (*size = 0; bytes != NULL && *size < room; *size += (size_t)n) {
		n = read(fd, bytes + *size, room - *size);
		if (n <= 0)
			break;
	}
	if (n >= 0)
		return bytes;
	free(bytes);
	return NULL;
}

enum mu_status
mu_look_file_open(struct mu_look_file *look, const char *path, size_t limit,
    struct mu_why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = NULL;
	size_t size = 0;
	enum mu_status status;
	struct mu_why name;

	if (fd >= 0)
		bytes = read_file(fd, &size);
	if (bytes == NULL)
		status = mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
		    mu_safe_argument(path).text, strerror(errno));
	else
		status = mu_look_file_read(look, bytes, size, limit, why);
	if (status != MU_OK && bytes != NULL) {
		mu_why(&name, MU_OK, "%s", mu_safe_argument(path).text);
		mu_why_after(why, &name, ": ");
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return status;
}

void
mu_look_file_close(struct mu_look_file *look)
{
	/* Its questions are in the arena. */
	look->names.questions = NULL;
	mu_kept_names_close(&look->names);
	mu_look_image_close(&look->image);
	mu_arena_close(&look->arena);
	*look = (struct mu_look_file) { .num_lost = 0 };
}

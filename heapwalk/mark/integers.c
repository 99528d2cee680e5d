/*
 * CPython (Include/cpython/longintrepr.h, Include/object.h), words from the
 * begin of an int:
 *	0  uses: 32 bits; until 3.13 the rest is 0, since 3.14 it begins with 16
 *	   bits that are 0. A free object of pymalloc has an address here.
 *	1  its type
 *	2  the number of digits, until 3.11; since 3.12 eight times that, with
 *	   0 in its lowest two bits for numbers above 0
 *	3  digits of 32 bits, the lowest first
 * A build without the global lock (3.13t) has other headers: not known here.
 *
 * Chez Scheme (cmacros.ss): a fixnum has 3 bits of type, which are 0.
 */
#include "heapwalk/mark/integers.h"

#include <string.h>

#include "heapwalk/graph/parts.h"
#include "heapwalk/heaps/blocks_reading.h"
#include "heapwalk/mark/mark.h"
#include "heapwalk/mark/marking.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/deadline.h"
#include "heapwalk/subject/read_buffer.h"

#define WORD sizeof(uintptr_t)
#define DIGIT_BITS 30
#define DIGIT_MASK (((uintptr_t)1 << DIGIT_BITS) - 1)
#define SIZE_MASK (~(uintptr_t)4) /* 3.14 has a flag there */
#define FIXNUM_BITS 3

/* Of a type object: tp_flags, Py_TPFLAGS_LONG_SUBCLASS, .._TYPE_SUBCLASS */
#define TYPE_FLAGS 168
#define FLAG_LONG ((uintptr_t)1 << 24)
#define FLAG_TYPE ((uintptr_t)1 << 31)

/* Of a block: its words were read; integers alone lead to it. */
#define READ 1
#define BY_INTEGER 2

struct header {
	uintptr_t uses, type, size;
};

struct marking {
	struct mu_graph *graph;
	const struct mu_snapshot *snap;
	unsigned encodings;
	struct mu_range unmarked; /* the blocks that are, and others */
	uint8_t *state;           /* of each block: bits */
	struct mu_deadline deadline;
	size_t found;
	bool no_memory;

	/* Of the words that are read: a root, or the block with a number. */
	const struct mu_root *root;
	uint32_t node;
};

unsigned
mu_integers_used(const struct mu_snapshot *snap)
{
	static const char *const schemes[] = { "racket", "scheme", "petite",
		"chez" };
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	unsigned used = 0;
	const char *name;
	size_t i;

	for (; mapping < end; mapping++) {
		if (mapping->inode == 0 || !mapping->executable)
			continue;
		name = mu_path_base(mapping->name);
		if (strstr(name, "python") != NULL)
			used |= MU_INTEGERS_DIGITS;
		for (i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
			if (mu_starts_with(name, schemes[i]))
				used |= MU_INTEGERS_FIXNUM;
	}
	return used;
}

static bool
has_flag(const struct mu_snapshot *snap, uintptr_t type, uintptr_t flag)
{
	uintptr_t flags;

	return type % WORD == 0 &&
	    mu_snapshot_word(snap, type + TYPE_FLAGS, &flags) &&
	    (flags & flag) != 0;
}

/* True if an int that is in use has its COUNT digits at ADDRESS. */
static bool
is_int(const struct mu_snapshot *snap, uintptr_t address, uintptr_t count)
{
	struct header copy;
	const struct header *header =
	    mu_snapshot_peek(snap, address - sizeof(copy), sizeof(copy), &copy);
	uintptr_t meta;

	if (header == NULL)
		return false;
	copy = *header;
	return (copy.uses & UINT32_MAX) != 0 &&
	    (copy.uses >> 32 & UINT16_MAX) == 0 &&
	    (copy.size == count || (copy.size & SIZE_MASK) == 8 * count) &&
	    has_flag(snap, copy.type, FLAG_LONG) &&
	    mu_snapshot_word(snap, copy.type + WORD, &meta) &&
	    has_flag(snap, meta, FLAG_TYPE);
}

/* The number of two digits that VALUE has; 0: it has none. */
static uintptr_t
two_digits(uintptr_t value)
{
	uintptr_t high = value >> 32;

	return high == 0 || (value & UINT32_MAX) > DIGIT_MASK ||
		high > DIGIT_MASK
	    ? 0
	    : high << DIGIT_BITS | (value & DIGIT_MASK);
}

bool
mu_integers_refer(const struct mu_snapshot *snap, unsigned encodings,
    uintptr_t address, uintptr_t value, uintptr_t target)
{
	if ((encodings & MU_INTEGERS_FIXNUM) != 0 &&
	    value == target << FIXNUM_BITS)
		return true;
	if ((encodings & MU_INTEGERS_DIGITS) == 0)
		return false;
	return target > DIGIT_MASK
	    ? two_digits(value) == target && is_int(snap, address, 2)
	    : (value & UINT32_MAX) == target && is_int(snap, address, 1);
}

/*
 * The integer at ADDRESS leads to block TARGET. An edge that its block has
 * already was followed: it is the type, or an old word behind the object.
 */
static void
note(struct marking *marking, uintptr_t address, uint32_t target)
{
	struct mu_graph *graph = marking->graph;

	if (marking->root == NULL) {
		if (graph->cells != NULL &&
		    (graph->cells[marking->node] == MU_CELL_NONE ||
			(graph->cells[marking->node] & MU_CELL_ONE) != 0))
			graph->cells[marking->node] = MU_CELL_ONE | target;
		return;
	}
	if (!mu_arena_room(graph->arena, graph->integers, graph->num_integers,
		graph->max_integers, 64)) {
		marking->no_memory = true;
		return;
	}
	graph->integers[graph->num_integers++] =
	    (struct mu_integer) { .address = address,
		    .target = target,
		    .kind = marking->root->kind };
}

/*
 * The word at ADDRESS may stand for NUMBER. Of a block that only integers lead
 * to all of them are noted: the first may be in an object that is free.
 */
static void
try_number(struct marking *marking, uintptr_t address, uintptr_t value,
    uintptr_t number)
{
	struct mu_block block;

	if (!mu_range_has(marking->unmarked, number) ||
	    !mu_blocks_find(marking->graph->blocks, number, &block) ||
	    block.range.begin != number || block.mark == NULL ||
	    (mu_block_marked(&block) &&
		(marking->state[block.number] & BY_INTEGER) == 0) ||
	    !mu_integers_refer(
		marking->snap, marking->encodings, address, value, number))
		return;
	marking->found += mu_block_mark(&block);
	marking->state[block.number] |= BY_INTEGER;
	note(marking, address, block.number);
}

/* RANGE, whose bytes are at VIEW. */
static void
read_words(struct marking *marking, struct mu_range range, const char *view)
{
	uintptr_t at = (range.begin + WORD - 1) & -WORD, value;

	for (; at + WORD <= range.end; at += WORD) {
		memcpy(&value, view + (at - range.begin), WORD);
		if (value == 0)
			continue;
		if ((marking->encodings & MU_INTEGERS_FIXNUM) != 0)
			try_number(marking, at, value, value >> FIXNUM_BITS);
		if ((marking->encodings & MU_INTEGERS_DIGITS) == 0)
			continue;
		try_number(marking, at, value, two_digits(value));
		if ((value & UINT32_MAX) <= DIGIT_MASK)
			try_number(marking, at, value, value & DIGIT_MASK);
	}
	mu_deadline_passed(&marking->deadline, mu_range_size(range) / WORD + 8);
}

/* What was written of RANGE, through BUFFER or, if it is NULL, at VIEW. */
static void
read_written(struct marking *marking, struct mu_range range, const char *view,
    struct mu_read_buffer *buffer)
{
	struct mu_parts parts;
	struct mu_range part;
	const char *at;

	mu_parts_open(&parts, (struct mu_memory *)&marking->snap->memory, range,
	    WORD - 1);
	while (!marking->deadline.passed && mu_parts_next(&parts, &part)) {
		at = view + (part.begin - range.begin);
		read_words(marking, part,
		    buffer != NULL ? mu_read_buffer_fill(buffer, part, at)
				   : at);
	}
}

static bool
read_block(void *ctx, const struct mu_block *block)
{
	struct marking *marking = ctx;

	/* One that is not followed yet may have an edge that note() takes. */
	if (!mu_block_marked(block) ||
	    !mu_marking_followed(marking->graph->blocks, block->number) ||
	    (marking->state[block->number] & READ) != 0)
		return !mu_deadline_passed(&marking->deadline, 1);
	marking->state[block->number] |= READ;
	marking->node = block->number;
	read_written(marking, block->range, block->view, NULL);
	return !marking->deadline.passed;
}

static void
read_roots(struct marking *marking, const struct mu_roots *roots)
{
	struct mu_memory *memory = (struct mu_memory *)&marking->snap->memory;
	const struct mu_root *root = roots->ranges;
	const struct mu_root *end = root + roots->num_ranges;
	struct mu_read_buffer buffer;

	mu_read_buffer_open(&buffer, memory);
	for (; root < end && !marking->deadline.passed; root++) {
		marking->root = root;
		read_written(marking, root->range, root->view, &buffer);
	}
	mu_read_buffer_close(&buffer);
	marking->root = NULL;
}

static bool
note_unmarked(void *ctx, const struct mu_block *block)
{
	struct marking *marking = ctx;

	if (marking->unmarked.end == 0)
		marking->unmarked.begin = block->range.begin;
	marking->unmarked.end = block->range.end;
	return !mu_deadline_passed(&marking->deadline, 1);
}

/* What integers led to since the last time. */
static enum mu_status
follow_found(struct marking *marking)
{
	if (marking->no_memory)
		return MU_ERR_NO_MEMORY;
	if (marking->deadline.passed)
		return MU_ERR_TIMEOUT;
	return marking->found == 0
	    ? MU_OK
	    : mu_mark_on(marking->graph, marking->deadline.ns);
}

enum mu_status
mu_integers_mark(struct mu_graph *graph, const struct mu_snapshot *snap,
    const struct mu_roots *roots, uint64_t deadline_ns)
{
	struct marking marking = { .graph = graph,
		.snap = snap,
		.encodings = graph->blocks->integers,
		.deadline = { .ns = deadline_ns } };
	enum mu_status status;

	mu_blocks_each_unmarked(graph->blocks, note_unmarked, &marking);
	if (marking.unmarked.end == 0)
		return MU_OK;
	marking.state = mu_arena_alloc(graph->arena, graph->num_blocks, 1);
	if (marking.state == NULL)
		return MU_ERR_NO_MEMORY;
	read_roots(&marking, roots);
	status = follow_found(&marking);
	marking.found = 0;
	if (status == MU_OK) {
		mu_blocks_read_each(graph->blocks, snap, read_block, &marking);
		status = follow_found(&marking);
	}
	/* All were read in order; now what integers led to. */
	while (status == MU_OK && marking.found > 0) {
		marking.found = 0;
		mu_blocks_each(graph->blocks, read_block, &marking);
		status = follow_found(&marking);
	}
	return status;
}

#include "lib/look/words.h"

#include <elf.h>
#include <string.h>

#include "heapwalk/graph/parts.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/blocks_reading.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/look/sections.h"

#define WORD sizeof(uintptr_t)
#define KEPT ((size_t)1 << 12) /* places for tags, a power of 2 */
#define USER_END ((uintptr_t)1 << 56)

/* Words in the order in which they are written. */
struct words {
	struct mu_bytes_out *out;
	const struct mu_look_parts *parts;
	const struct mu_blocks *blocks;
	struct mu_memory *memory;
	struct mu_range *runs;    /* of mappings that follow each other */
	size_t num_runs, near;    /* the run that the last word pointed into */
	struct mu_range envelope; /* of the runs */
	bool contents;

	uintptr_t *tags; /* addresses in modules, by hash */
	uintptr_t last, last_other;
	unsigned char gaps[MU_LOOK_CHUNK * MU_NUMBER_MOST];
	unsigned char values[MU_LOOK_CHUNK * MU_NUMBER_MOST];
	size_t num_gaps, num_values, count;
};

/* A chunk: how many words, where each is, and what it is. */
static void
flush(struct words *words)
{
	mu_put_number(words->out, words->count);
	mu_put_bytes(words->out, words->gaps, words->num_gaps);
	mu_put_bytes(words->out, words->values, words->num_values);
	words->count = words->num_gaps = words->num_values = 0;
}

/*
 * A pointer into the heap is near to itself, as objects that belong together
 * are; any other is near to the last one, as objects of a class are neighbours.
 */
static void
put(struct words *words, uintptr_t address, uintptr_t value)
{
	bool other = !mu_range_has(words->blocks->envelope, value);
	int64_t gap = (int64_t)(address - words->last);
	uintptr_t from = other ? words->last_other : address;

	words->num_gaps += mu_number_write(words->gaps + words->num_gaps,
	    mu_zigzag(gap) << 1 | (uint64_t)other);
	words->num_values += mu_number_write(words->values + words->num_values,
	    mu_zigzag((int64_t)(value - from)));
	words->last = address;
	if (other)
		words->last_other = value;
	if (++words->count == MU_LOOK_CHUNK)
		flush(words);
}

/* True if VALUE points into a mapping. */
static bool
points(struct words *words, uintptr_t value)
{
	size_t low = 0;

	if (!mu_range_has(words->envelope, value))
		return false;
	if (mu_range_has(words->runs[words->near], value))
		return true;
	mu_bisect(low, words->num_runs, i, words->runs[i].end <= value);
	if (low == words->num_runs || !mu_range_has(words->runs[low], value))
		return false;
	words->near = low;
	return true;
}

/* The kept word at a vtable's address says that it is one: put that, too. */
static void
note_tag(struct words *words, uintptr_t value)
{
	size_t at = (size_t)(value * 0x9e3779b97f4a7c15ull >> 40) & (KEPT - 1);
	uintptr_t word;

	if (value % WORD != 0 || words->tags[at] == value ||
	    mu_range_has(words->blocks->envelope, value))
		return;
	words->tags[at] = value;
	if (mu_snapshot_word(words->parts->snap, value, &word) &&
	    points(words, word))
		put(words, value, word);
}

/* Most pointers do. It takes one bit, where mu_blocks_find() seeks the bounds.
 */
static bool
begins_block(const struct mu_blocks *blocks, uintptr_t value)
{
	const struct mu_span *span = mu_blocks_span(blocks, value);
	size_t bit;

	if (span == NULL || value % MU_GRAIN != 0)
		return false;
	bit = (value - span->range.begin) / MU_GRAIN;
	return *mu_span_starts(span, bit / MU_WORD_BITS) >> bit % MU_WORD_BITS &
	    1;
}

/*
 * ADDRESS is that of the word in a block; false: it is a root. An old link
 * leads to no block's first byte.
 */
static bool
is_kept(struct words *words, uintptr_t address, uintptr_t word, bool in_block)
{
	uintptr_t value = mu_reference_untag(words->blocks, word);
	struct mu_block to;

	if (!points(words, value))
		return false;
	return !in_block || value != word ||
	    !mu_range_has(words->blocks->envelope, value) ||
	    begins_block(words->blocks, value) ||
	    !mu_blocks_find(words->blocks, value, &to) ||
	    mu_reference_link(words->blocks, address, value, &to) !=
	    MU_HEAP_OLD_LINK;
}

static void
put_range(struct words *words, struct mu_range range, const char *view,
    bool code, bool in_block)
{
	bool all = in_block && words->contents;
	size_t step = all ? WORD : mu_reference_step(words->blocks, code);
	uintptr_t at = range.begin + (-range.begin & (step - 1)), word;

	for (; at + WORD <= range.end; at += step) {
		memcpy(&word, view + (at - range.begin), sizeof(word));
		if (word != 0 && (all || is_kept(words, at, word, in_block)))
			put(words, at, word);
	}
}

static void
put_written(struct words *words, struct mu_range range, const char *view,
    bool code, bool in_block)
{
	struct mu_parts parts;
	struct mu_range part;

	if (mu_range_size(range) <= MU_GRAPH_LARGE) {
		put_range(words, range, view, code, in_block);
		return;
	}
	mu_parts_open(&parts, words->memory, range,
	    WORD - mu_reference_step(words->blocks, code));
	while (mu_parts_next(&parts, &part))
		put_range(words, part, view + (part.begin - range.begin), code,
		    in_block);
}

static bool
put_block(void *ctx, const struct mu_block *block)
{
	struct words *words = ctx;
	uintptr_t first;

	put_written(words, block->range, block->view,
	    mu_reference_in_code(words->blocks, block->range), true);
	if (mu_range_size(block->range) >= sizeof(first)) {
		memcpy(&first, block->view, sizeof(first));
		if (points(words, first))
			note_tag(words, first);
	}
	return words->out->error == 0;
}

/* Headers say where modules are. */
static void
put_headers(struct words *words, const struct mu_mapping *mapping)
{
	const struct mu_snapshot *snap = words->parts->snap;
	const size_t page = words->memory->page_size;
	const char *view;
	Elf64_Ehdr header;
	size_t size;
	uintptr_t at, word;

	if (mapping->name[0] != '/' || mapping->offset != 0 ||
	    !mapping->readable)
		return;
	view = mu_snapshot_view(snap, mapping->range.begin, sizeof(header));
	if (view == NULL || memcmp(view, ELFMAG, SELFMAG) != 0)
		return;
	memcpy(&header, view, sizeof(header));
	size = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
	if (header.e_phoff > page || size > page)
		return;
	view = mu_snapshot_view(snap, mapping->range.begin, size);
	for (at = 0; view != NULL && at + WORD <= size; at += WORD) {
		memcpy(&word, view + at, sizeof(word));
		if (word != 0)
			put(words, mapping->range.begin + at, word);
	}
}

static void
put_number(struct words *words, uintptr_t address)
{
	uintptr_t word;

	if (mu_snapshot_word(words->parts->snap, address, &word))
		put(words, address, word);
}

static bool
find_runs(struct words *words)
{
	const struct mu_snapshot *snap = words->parts->snap;
	struct mu_range range;
	size_t i;

	words->runs = mu_arena_alloc(
	    words->parts->tables, snap->num_mappings + 1, sizeof(*words->runs));
	words->tags =
	    mu_arena_alloc(words->parts->tables, KEPT, sizeof(*words->tags));
	if (words->runs == NULL || words->tags == NULL)
		return false;
	for (i = 0; i < snap->num_mappings; i++) {
		range = snap->mappings[i].range;
		if (range.end > USER_END)
			continue;
		if (words->num_runs > 0 &&
		    words->runs[words->num_runs - 1].end == range.begin)
			words->runs[words->num_runs - 1].end = range.end;
		else
			words->runs[words->num_runs++] = range;
	}
	if (words->num_runs > 0)
		words->envelope = (struct mu_range) { words->runs[0].begin,
			words->runs[words->num_runs - 1].end };
	return true;
}

bool
mu_look_words_put(
    struct mu_bytes_out *out, const struct mu_look_parts *parts, bool contents)
{
	struct words *words = mu_arena_alloc(parts->tables, 1, sizeof(*words));
	const struct mu_roots *roots = parts->roots;
	size_t i;

	if (words == NULL)
		return false;
	words->out = out;
	words->parts = parts;
	words->blocks = &parts->heap->blocks;
	words->memory = (struct mu_memory *)&parts->snap->memory;
	words->contents = contents;
	if (!find_runs(words))
		return false;
	mu_blocks_read_each(words->blocks, parts->snap, put_block, words);
	for (i = 0; i < roots->num_ranges; i++)
		put_written(words, roots->ranges[i].range,
		    roots->ranges[i].view,
		    roots->ranges[i].code || roots->ranges[i].loads, false);
	for (i = 0; i < parts->snap->num_mappings; i++)
		put_headers(words, &parts->snap->mappings[i]);
	for (i = 0; i < parts->num_numbers; i++)
		put_number(words, parts->numbers[i]);
	if (words->count > 0)
		flush(words);
	flush(words);
	return true;
}

/*
 * Scanning: what marked blocks and roots point into is marked in turn.
 *
 * A word that may point into a block waits in a short ring while its place in
 * the bitmaps comes from memory; then the block is marked and pushed. A block
 * that is popped waits in another while its bytes come. Cache misses so
 * overlap: one that is waited for costs 40 times as much (207 against 5.6 ns
 * on the machine this was written on).
 *
 * Long blocks and roots are scanned piece by piece, with the stack emptied
 * between pieces: the width of a block never fills the stack.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/scan.h"

#include <string.h>

#include "heapwalk/links.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"

#define WORD sizeof(uintptr_t)

#define PIECE 32768        /* bytes of a long block scanned at a time */
#define LARGE (1u << 20)   /* bytes from which on populated() is asked */
#define MAX_STRETCHES 1024 /* long blocks begun and not finished */
#define MIN_LINKS 1024     /* words put off: this and one a block */

/* With less room than this the rounds of scanning again would never end. */
#define MIN_DEPTH 4096

static struct mu_span *
span_of(struct mu_scan *scan, uintptr_t address)
{
	struct mu_span *span = scan->span;

	if (span == NULL || !mu_range_has(span->range, address)) {
		span = mu_blocks_span(scan->blocks, address);
		if (span != NULL)
			scan->span = span;
	}
	return span;
}

static void
drop(struct mu_scan *scan, uintptr_t begin)
{
	if (scan->dropped.end == 0 || begin < scan->dropped.begin)
		scan->dropped.begin = begin;
	if (begin >= scan->dropped.end)
		scan->dropped.end = begin + 1;
}

static void
push(struct mu_scan *scan, uintptr_t begin)
{
	if (scan->depth < scan->max_depth)
		scan->stack[scan->depth++] = begin;
	else
		drop(scan, begin);
}

static void
push_stretch(
    struct mu_scan *scan, const char *view, struct mu_range range, bool root)
{
	if (scan->num_stretches == MAX_STRETCHES) {
		drop(scan, range.begin);
		return;
	}
	scan->stretches[scan->num_stretches++] = (struct mu_stretch) {
		.view = view,
		.begin = range.begin,
		.at = range.begin,
		.end = range.end,
		.filled = range.begin,
		.root = root,
	};
}

/* There are few, so that room for all that there could be is not asked for. */
static bool
grow_links(struct mu_scan *scan)
{
	size_t limit = scan->blocks->count + MIN_LINKS;
	size_t max = 2 * scan->max_links < limit ? 2 * scan->max_links : limit;
	struct mu_scan_word *links = NULL;

	if (scan->max_links < limit) {
		links = mu_arena_grow(scan->arena, scan->links, scan->max_links,
		    max, sizeof(*links));
		scan->links_lost = links == NULL;
	}
	if (links == NULL) {
		/* More than malloc leaves behind, or than we can tell. */
		scan->blocks->last_words = true;
		return false;
	}
	scan->links = links;
	scan->max_links = max;
	return true;
}

static bool
put_off(struct mu_scan *scan, uintptr_t value, uintptr_t address)
{
	struct mu_block block;

	if (scan->blocks->last_words || address == 0 || value % MU_GRAIN != 0 ||
	    !mu_blocks_find(scan->blocks, value, &block) ||
	    !mu_link_possible(value, &block) || mu_block_marked(&block))
		return false;
	if (scan->num_links == scan->max_links && !grow_links(scan))
		return false;
	scan->links[scan->num_links++] =
	    (struct mu_scan_word) { value, address };
	return true;
}

/* Mark what VALUE points into, by now in the cache. */
static void
settle(struct mu_scan *scan, uintptr_t value, uintptr_t address)
{
	struct mu_span *span = span_of(scan, value);
	struct mu_block block;
	size_t grain, index;
	uint64_t bit;

	if (span != NULL) {
		grain = (value - span->range.begin) / MU_GRAIN;
		index = grain / MU_WORD_BITS;
		bit = 1ull << (grain % MU_WORD_BITS);
		/* The first grain of a block: no need to know its end. */
		if (span->start[index] & bit) {
			if (span->mark[index] & bit)
				return;
			span->mark[index] |= bit;
			push(scan, span->range.begin + grain * MU_GRAIN);
			return;
		}
	}
	if (!put_off(scan, value, address) &&
	    mu_reference_find(scan->blocks, address, value, &block) &&
	    mu_block_mark(&block))
		push(scan, block.range.begin);
}

/*
 * Value and address are written and read one by one: as a structure gcc reads
 * both at once, and a load that covers two stores waits until both are in the
 * cache, behind every miss before them (marking took 1.5 times as long).
 */
static void
settle_oldest(struct mu_scan *scan)
{
	unsigned oldest = scan->first_word;

	scan->first_word = (oldest + 1) % MU_SCAN_WAITING;
	scan->num_words--;
	settle(scan, scan->values[oldest], scan->addresses[oldest]);
}

void
mu_scan_word(struct mu_scan *scan, struct mu_scan_word word)
{
	struct mu_span *span = span_of(scan, word.value);
	unsigned place;
	size_t index;

	if (span != NULL) {
		index =
		    (word.value - span->range.begin) / MU_GRAIN / MU_WORD_BITS;
		__builtin_prefetch(&span->start[index]);
		__builtin_prefetch(&span->mark[index], 1);
	}
	if (scan->num_words == MU_SCAN_WAITING)
		settle_oldest(scan);
	place = (scan->first_word + scan->num_words++) % MU_SCAN_WAITING;
	scan->values[place] = word.value;
	scan->addresses[place] = word.address;
}

/* Inline, so that the usual step and no tags cost nothing. */
static inline __attribute__((always_inline)) void
scan_each(struct mu_scan *scan, const char *view, struct mu_range range,
    bool root, size_t step, uintptr_t tags)
{
	uintptr_t lowest = scan->blocks->envelope.begin;
	size_t width = mu_range_size(scan->blocks->envelope);
	uintptr_t address = range.begin, word, value;

	for (; range.end - address >= WORD; address += step, view += step) {
		memcpy(&word, view, WORD);
		value = word & ~tags;
		if (value - lowest < width)
			mu_scan_word(scan,
			    (struct mu_scan_word) {
				value, root || value != word ? 0 : address });
	}
}

/* RANGE begins where a word counts; its bytes are at VIEW. */
static void
scan_words(
    struct mu_scan *scan, const char *view, struct mu_range range, bool root)
{
	const struct mu_word_rule *rule = &scan->blocks->words;
	size_t cost = mu_range_size(range);

	if (rule->unaligned) {
		scan_each(scan, view, range, root, 1, rule->tags);
	} else {
		cost /= WORD;
		if (rule->tags == 0)
			scan_each(scan, view, range, root, WORD, 0);
		else
			scan_each(scan, view, range, root, WORD, rule->tags);
	}
	mu_deadline_passed(&scan->deadline, cost + 8);
}

void
mu_scan_block(struct mu_scan *scan, uintptr_t begin)
{
	struct mu_block block;
	struct mu_range range;

	if (!mu_blocks_find(scan->blocks, begin, &block))
		return;
	range = block.range;
	if (mu_range_size(range) > PIECE) {
		push_stretch(scan, block.view, range, false);
		return;
	}
	range.begin = mu_reference_first(scan->blocks, range.begin);
	if (range.begin < range.end)
		scan_words(scan, block.view + (range.begin - block.range.begin),
		    range, false);
}

/* Take from the stack what can be on the way, hand out the oldest. */
static bool
next_block(struct mu_scan *scan, uintptr_t *begin)
{
	const struct mu_span *span;
	const char *view;

	while (scan->num_nexts < MU_SCAN_WAITING && scan->depth > 0) {
		*begin = scan->stack[--scan->depth];
		span = span_of(scan, *begin);
		if (span != NULL) {
			/* The header lies before the block. */
			view = span->view + (*begin - span->range.begin);
			__builtin_prefetch(view - WORD);
			__builtin_prefetch(view + 48);
		}
		scan->nexts[(scan->first_next + scan->num_nexts++) %
		    MU_SCAN_WAITING] = *begin;
	}
	if (scan->num_nexts == 0)
		return false;
	*begin = scan->nexts[scan->first_next];
	scan->first_next = (scan->first_next + 1) % MU_SCAN_WAITING;
	scan->num_nexts--;
	return true;
}

static void
drain(struct mu_scan *scan)
{
	uintptr_t begin;

	do {
		while (next_block(scan, &begin) && !scan->deadline.passed)
			mu_scan_block(scan, begin);
		while (scan->num_words > 0)
			settle_oldest(scan);
	} while (scan->depth > 0 && !scan->deadline.passed);
}

/* How far before AT, where a piece ended, words began that do not end there. */
static size_t
back_from(
    const struct mu_scan *scan, const struct mu_stretch *stretch, uintptr_t at)
{
	size_t back = WORD - mu_reference_step(scan->blocks);

	return back < at - stretch->begin ? back : at - stretch->begin;
}

/* Where STRETCH goes on; false at its end. */
static bool
fill(struct mu_scan *scan, struct mu_stretch *stretch)
{
	struct mu_range left = { stretch->filled, stretch->end }, part = left;

	if (mu_range_size(left) == 0)
		return false;
	if (mu_range_size(left) >= LARGE && scan->memory != NULL) {
		if (!scan->memory->ops->populated(scan->memory, left, &part))
			return false;
		if (part.begin < left.begin || part.end > left.end ||
		    part.begin >= part.end)
			part = left;
	}
	stretch->at = mu_reference_first(scan->blocks, part.begin);
	/* A word can lie across two parts that touch. */
	if (part.begin == stretch->filled)
		stretch->at -= back_from(scan, stretch, part.begin);
	stretch->filled = part.end;
	return true;
}

/* Scan one piece of the newest stretch. */
static void
step(struct mu_scan *scan)
{
	struct mu_stretch *stretch = &scan->stretches[scan->num_stretches - 1];
	struct mu_range range;

	if (stretch->at >= stretch->filled && !fill(scan, stretch)) {
		scan->num_stretches--;
		return;
	}
	range.begin = stretch->at;
	range.end = stretch->filled;
	if (range.begin >= range.end)
		return;
	if (mu_range_size(range) > PIECE)
		range.end = range.begin + PIECE;
	stretch->at = range.end;
	if (range.end < stretch->filled)
		stretch->at -= back_from(scan, stretch, range.end);
	scan_words(scan, stretch->view + (range.begin - stretch->begin), range,
	    stretch->root);
}

/* Until all that is known to be marked was scanned or dropped. */
void
mu_scan_finish(struct mu_scan *scan)
{
	drain(scan);
	while (scan->num_stretches > 0 && !scan->deadline.passed) {
		step(scan);
		drain(scan);
	}
}

void
mu_scan_root(struct mu_scan *scan, const char *view, struct mu_range range)
{
	push_stretch(scan, view, range, true);
	mu_scan_finish(scan);
}

enum mu_status
mu_scan_open(struct mu_scan *scan, struct mu_arena *arena, size_t max_depth)
{
	size_t refused = arena->refused;

	scan->arena = arena;
	scan->stretches =
	    mu_arena_alloc(arena, MAX_STRETCHES, sizeof(*scan->stretches));
	scan->stack = mu_arena_alloc(arena, max_depth, sizeof(*scan->stack));
	while (scan->stack == NULL && max_depth / 2 >= MIN_DEPTH) {
		max_depth /= 2;
		scan->stack =
		    mu_arena_alloc(arena, max_depth, sizeof(*scan->stack));
	}
	scan->max_depth = max_depth;
	if (scan->stack != NULL)
		arena->refused = refused;
	scan->max_links = MIN_LINKS;
	scan->links =
	    mu_arena_alloc(arena, scan->max_links, sizeof(*scan->links));
	if (scan->stack == NULL || scan->stretches == NULL ||
	    scan->links == NULL)
		return MU_ERR_NO_MEMORY;
	return MU_OK;
}

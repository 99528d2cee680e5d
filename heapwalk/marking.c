/*
 * The workers of a marking: see heapwalk/marking.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/marking.h"

#include <string.h>

#include "heapwalk/links.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"

#define WORD sizeof(uintptr_t)

#define MIN_WORK ((size_t)1 << 20) /* bytes that a thread is started for */
#define MIN_LINKS 1024             /* words put off: this and one a block */
#define BLOCKS_A_LINK 16           /* room of all workers' own */

/* Of a ticket for a sweep. */
#define SPAN_WORDS 4096
#define LISTED 64

/*
 * A sweep costs as much as this many words of bitmaps a block. Where it finds
 * fewer, the next looks for what it begins with only, and follows that.
 */
#define WORDS_A_BLOCK 8

/* A run that is on. */
struct run {
	struct mu_marking *marking;
	mu_marking_begin *begin;
	void *ctx;
};

static void
work(void *ctx, unsigned worker)
{
	struct run *run = ctx;
	struct mu_marking *marking = run->marking;

	if (worker == 0 || mu_share_join(&marking->share))
		mu_scan_work(&marking->scans[worker], run->begin, run->ctx);
}

/* The blocks that were swept up. */
static size_t
run_once(struct mu_marking *marking, unsigned count, bool sweeping,
    size_t num_tickets, mu_marking_begin *begin, void *ctx)
{
	struct run run = { marking, begin, ctx };
	struct mu_scan *scan;
	size_t swept = 0;
	unsigned i;

	if (count > marking->num_scans)
		count = marking->num_scans;
	for (i = 0; i < marking->num_scans; i++) {
		scan = &marking->scans[i];
		scan->alone = count == 1;
		scan->sweeping = sweeping;
		scan->sweep.count = 0;
	}
	mu_share_begin(&marking->share, num_tickets);
	mu_workers_run(marking->blocks->workers, count, work, &run);
	for (i = 0; i < marking->num_scans; i++) {
		scan = &marking->scans[i];
		marking->left |= scan->left;
		marking->passed |= scan->deadline.passed;
		scan->left = false;
		swept += scan->sweep.count;
	}
	return swept;
}

static size_t
span_tickets(const struct mu_span *span)
{
	return (span->num_words + SPAN_WORDS - 1) / SPAN_WORDS;
}

static void
sweep_span(struct mu_scan *scan, struct mu_span *span, size_t next)
{
	size_t end = next + SPAN_WORDS;

	mu_scan_sweep(
	    scan, span, next, end < span->num_words ? end : span->num_words);
}

static void
sweep_listed(struct mu_scan *scan, size_t i)
{
	struct mu_listed *listed = scan->blocks->listed;
	size_t end = i + LISTED;

	for (; i < end && i < scan->blocks->num_listed; i++) {
		if (!__atomic_load_n(&listed[i].marked, __ATOMIC_RELAXED) ||
		    !mu_scan_take_listed(&listed[i]))
			continue;
		mu_scan_block(scan, listed[i].range.begin);
		mu_scan_drain(scan);
		scan->sweep.count++;
	}
}

static void
sweep(void *ctx, struct mu_scan *scan, size_t ticket)
{
	const struct mu_blocks *blocks = scan->blocks;
	size_t i, tickets;

	(void)ctx;
	for (i = 0; i < blocks->num_spans; i++) {
		tickets = span_tickets(&blocks->spans[i]);
		if (ticket < tickets) {
			sweep_span(
			    scan, &blocks->spans[i], ticket * SPAN_WORDS);
			return;
		}
		ticket -= tickets;
	}
	sweep_listed(scan, ticket * LISTED);
}

/* What is marked and not taken, until there is none. */
static void
sweep_all(struct mu_marking *marking)
{
	const struct mu_blocks *blocks = marking->blocks;
	size_t i, tickets, words = 0, swept;
	bool sweeping = true;

	tickets = (blocks->num_listed + LISTED - 1) / LISTED;
	for (i = 0; i < blocks->num_spans; i++) {
		tickets += span_tickets(&blocks->spans[i]);
		words += blocks->spans[i].num_words;
	}
	while (marking->left && !marking->passed) {
		marking->left = false;
		swept = run_once(marking, marking->num_scans, sweeping, tickets,
		    sweep, NULL);
		sweeping = swept > words / WORDS_A_BLOCK;
	}
}

void
mu_marking_again(struct mu_marking *marking)
{
	const struct mu_blocks *blocks = marking->blocks;
	const struct mu_span *span;
	size_t i, word;

	for (i = 0; i < blocks->num_spans; i++) {
		span = &blocks->spans[i];
		for (word = 0; word <= span->num_words; word++)
			*mu_span_marks(span, word) &=
			    *mu_span_starts(span, word);
	}
	for (i = 0; i < blocks->num_listed; i++)
		blocks->listed[i].taken = false;
	marking->left = true;
}

/* There are few, so that room for all that there could be is not asked for. */
static bool
grow_links(struct mu_marking *marking)
{
	size_t limit = marking->blocks->count + MIN_LINKS;
	size_t max = 2 * marking->max_links;
	struct mu_scan_word *links;

	if (max > limit)
		max = limit;
	if (marking->max_links >= limit)
		return false;
	links = mu_arena_grow(marking->arena, marking->links,
	    marking->max_links, max, sizeof(*links));
	marking->links_lost |= links == NULL;
	if (links == NULL)
		return false;
	marking->links = links;
	marking->max_links = max;
	return true;
}

static void
add_link(struct mu_marking *marking, struct mu_scan_word link)
{
	struct mu_block block;

	if (!mu_blocks_find(marking->blocks, link.value, &block) ||
	    mu_block_marked(&block))
		return;
	if (marking->num_links == marking->max_links && !grow_links(marking))
		marking->too_many = true;
	else
		marking->links[marking->num_links++] = link;
}

/* The words of one marked block that are to be put off. */
static bool
add_links_of(void *ctx, const struct mu_block *from)
{
	struct mu_marking *marking = ctx;
	const struct mu_blocks *blocks = marking->blocks;
	struct mu_scan *scan = &marking->scans[0];
	bool code = mu_reference_in_code(blocks, from->range);
	size_t step = mu_reference_step(blocks, code);
	struct mu_range range = from->range;
	struct mu_block to;
	uintptr_t value;

	if (!mu_block_marked(from) ||
	    (from->listed != NULL && from->listed->keep))
		return true;
	range.begin = mu_reference_first(blocks, code, range.begin);
	for (; range.begin < range.end && mu_range_size(range) >= WORD;
	     range.begin += step) {
		memcpy(&value, from->view + (range.begin - from->range.begin),
		    WORD);
		if (value % MU_GRAIN == 0 &&
		    mu_range_has(blocks->envelope, value) &&
		    mu_blocks_find(blocks, value, &to) &&
		    mu_link_possible(value, &to))
			add_link(marking,
			    (struct mu_scan_word) { value, range.begin });
	}
	marking->passed |= mu_deadline_passed(
	    &scan->deadline, mu_range_size(from->range) / step);
	return !marking->too_many && !marking->passed;
}

/* What each worker has put off; all of it again if one had no room. */
static void
collect_links(struct mu_marking *marking)
{
	struct mu_scan *scan;
	bool lost = false;
	size_t i, j;

	for (i = 0; i < marking->num_scans; i++) {
		scan = &marking->scans[i];
		for (j = 0; j < scan->num_links && !marking->too_many; j++)
			add_link(marking, scan->links[j]);
		lost |= scan->links_lost;
		scan->num_links = 0;
		scan->links_lost = false;
	}
	if (!lost || marking->too_many)
		return;
	marking->num_links = marking->judged = 0;
	mu_blocks_each(marking->blocks, add_links_of, marking);
}

/* *COUNT objects of SIZE bytes, or half of them, or ..., but not below MIN. */
static void *
alloc_less(struct mu_arena *arena, size_t *count, size_t min, size_t size)
{
	size_t refused = arena->refused;
	void *array = mu_arena_alloc(arena, *count, size);

	while (array == NULL && *count / 2 >= min) {
		*count /= 2;
		array = mu_arena_alloc(arena, *count, size);
	}
	if (array != NULL)
		arena->refused = refused;
	return array;
}

static bool
open_scan(struct mu_marking *marking, struct mu_scan *scan, size_t max_depth)
{
	scan->blocks = marking->blocks;
	scan->share = &marking->share;
	scan->max_depth = max_depth;
	scan->max_links = MIN_LINKS +
	    marking->blocks->count / BLOCKS_A_LINK / marking->num_scans;
	scan->stack = alloc_less(
	    marking->arena, &scan->max_depth, 1, sizeof(*scan->stack));
	scan->links = alloc_less(
	    marking->arena, &scan->max_links, MIN_LINKS, sizeof(*scan->links));
	return scan->stack != NULL && scan->links != NULL;
}

static bool
open_scans(struct mu_marking *marking, unsigned count, size_t max_depth)
{
	struct mu_arena *arena = marking->arena;
	unsigned i;

	marking->num_scans = count;
	marking->max_links = MIN_LINKS;
	marking->scans = mu_arena_alloc(arena, count, sizeof(*marking->scans));
	marking->links =
	    mu_arena_alloc(arena, marking->max_links, sizeof(*marking->links));
	if (marking->scans == NULL || marking->links == NULL ||
	    !mu_share_open(&marking->share, count, arena))
		return false;
	for (i = 0; i < count; i++)
		if (!open_scan(marking, &marking->scans[i], max_depth))
			return false;
	return true;
}

void
mu_marking_close(struct mu_marking *marking)
{
	mu_arena_rewind(marking->arena, marking->pieces);
}

enum mu_status
mu_marking_open(struct mu_marking *marking, struct mu_blocks *blocks,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns,
    size_t max_depth, size_t work)
{
	size_t refused = arena->refused;
	unsigned i, count = mu_workers_count(blocks->workers);
	mu_words_filter *filter = mu_words_choose();

	if (count > 1 + work / MIN_WORK)
		count = (unsigned)(1 + work / MIN_WORK);
	*marking = (struct mu_marking) { .blocks = blocks,
		.arena = arena,
		.pieces = arena->pieces,
		.share = { .blocks = blocks, .memory = memory } };
	if (!open_scans(marking, count, max_depth)) {
		if (count == 1)
			return MU_ERR_NO_MEMORY;
		mu_marking_close(marking);
		arena->refused = refused;
		if (!open_scans(marking, 1, max_depth))
			return MU_ERR_NO_MEMORY;
	}
	for (i = 0; i < marking->num_scans; i++) {
		marking->scans[i].deadline.ns = deadline_ns;
		marking->scans[i].filter = filter;
	}
	return MU_OK;
}

void
mu_marking_run(struct mu_marking *marking, unsigned count, size_t num_tickets,
    mu_marking_begin *begin, void *ctx)
{
	run_once(marking, count, false, num_tickets, begin, ctx);
	sweep_all(marking);
	if (!marking->passed)
		collect_links(marking);
	if (!marking->too_many || marking->blocks->last_words)
		return;
	/* All of them count, and those that were not kept are found again. */
	marking->blocks->last_words = true;
	mu_marking_again(marking);
	sweep_all(marking);
}

/*
 * Mark every block that can be reached from the roots: scan them, scan again
 * what found no room on the stack, and judge the words that may be old links.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark.h"

#include "heapwalk/mark_roots.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"

/* Entries of the stack: half the blocks, within these. */
#define MIN_DEPTH ((size_t)1 << 16)
#define MAX_DEPTH ((size_t)1 << 22)

static void
rescan_span(
    struct mu_scan *scan, const struct mu_span *span, struct mu_range window)
{
	uintptr_t bytes = (uintptr_t)MU_GRAIN * MU_WORD_BITS, begin;
	uint64_t bits;
	size_t i = 0;

	if (window.begin > span->range.begin)
		i = (window.begin - span->range.begin) / bytes;
	for (; i < span->num_words && !scan->deadline.passed; i++) {
		begin = span->range.begin + i * bytes;
		if (begin >= window.end)
			return;
		for (bits = span->mark[i]; bits != 0; bits &= bits - 1)
			mu_scan_block(scan,
			    begin + (size_t)__builtin_ctzll(bits) * MU_GRAIN);
		mu_scan_finish(scan);
	}
}

/*
 * Each round that drops something again has marked more blocks than the stack
 * holds, so there are few, and each is one pass over the window.
 */
static void
rescan_dropped(struct mu_scan *scan)
{
	struct mu_range window;
	size_t i;

	while (scan->dropped.end != 0 && !scan->deadline.passed) {
		window = scan->dropped;
		scan->dropped = (struct mu_range) { 0, 0 };
		for (i = 0; i < scan->blocks->num_spans; i++)
			rescan_span(scan, &scan->blocks->spans[i], window);
		for (i = 0; i < scan->blocks->num_listed; i++) {
			if (!scan->blocks->listed[i].marked ||
			    !mu_range_has(
				window, scan->blocks->listed[i].range.begin))
				continue;
			mu_scan_block(
			    scan, scan->blocks->listed[i].range.begin);
			mu_scan_finish(scan);
		}
	}
}

/* Of the words put off, what is a reference after all: how many blocks. */
static size_t
mark_put_off(struct mu_scan *scan)
{
	struct mu_block block;
	size_t i, count = 0;

	/* There may be more of them at each turn. */
	for (i = 0; i < scan->num_links && !scan->deadline.passed; i++) {
		if (!mu_reference_find(scan->blocks, scan->links[i].address,
			scan->links[i].value, &block) ||
		    !mu_block_mark(&block))
			continue;
		count++;
		mu_scan_block(scan, block.range.begin);
		mu_scan_finish(scan);
		rescan_dropped(scan);
	}
	return count;
}

/* How many blocks have no reference but those that are old links. */
static size_t
count_unlinked(struct mu_scan *scan)
{
	struct mu_block block;
	size_t i, left = 0, count = 0;

	for (i = 0; i < scan->num_links; i++) {
		if (mu_blocks_find(
			scan->blocks, scan->links[i].value, &block) &&
		    !mu_block_marked(&block))
			scan->links[left++] = scan->links[i];
	}
	scan->num_links = left;
	for (i = 0; i < left; i++) {
		mu_blocks_find(scan->blocks, scan->links[i].value, &block);
		count += mu_block_mark(&block);
	}
	for (i = 0; i < left; i++) {
		mu_blocks_find(scan->blocks, scan->links[i].value, &block);
		mu_block_unmark(&block);
	}
	return count;
}

/*
 * Now and then a program's own reference to a block's last word looks like an
 * old link: 1 in 500, 1 in 50 at worst. Of what malloc left behind, half or
 * more does. So as soon as few of those that there are do, they are the
 * program's, and all of them count.
 */
static void
mark_links(struct mu_scan *scan)
{
	size_t references = mark_put_off(scan);

	if (count_unlinked(scan) > references / 2)
		return;
	scan->blocks->last_words = true;
	mark_put_off(scan);
}

static size_t
usual_depth(const struct mu_blocks *blocks)
{
	size_t max_depth = blocks->count / 2;

	if (max_depth < MIN_DEPTH)
		max_depth = MIN_DEPTH;
	return max_depth < MAX_DEPTH ? max_depth : MAX_DEPTH;
}

static enum mu_status
outcome(const struct mu_scan *scan)
{
	if (scan->deadline.passed)
		return MU_ERR_TIMEOUT;
	return scan->links_lost ? MU_PARTIAL : MU_OK;
}

struct acquittal {
	struct mu_scan *scan;
	const struct mu_range *suspects;
	size_t count, next;
};

/* Marks blocks further on, too: BLOCK may be reachable by now. */
static bool
acquit(void *ctx, const struct mu_block *block)
{
	struct acquittal *acquittal = ctx;
	const struct mu_range *suspects = acquittal->suspects;
	uintptr_t begin = block->range.begin;
	size_t i = acquittal->next;

	while (i < acquittal->count && suspects[i].begin < begin)
		i++;
	acquittal->next = i;
	if (i < acquittal->count && suspects[i].begin == begin &&
	    suspects[i].end == block->range.end)
		return true;
	if (mu_block_mark(block)) {
		mu_scan_block(acquittal->scan, begin);
		mu_scan_finish(acquittal->scan);
	}
	return !acquittal->scan->deadline.passed;
}

enum mu_status
mu_mark_bounded(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns,
    size_t max_depth)
{
	struct mu_scan scan = { .blocks = blocks,
		.memory = memory,
		.deadline = { .ns = deadline_ns } };
	enum mu_status status = mu_scan_open(&scan, arena, max_depth);

	if (status != MU_OK)
		return status;
	mu_mark_roots(&scan, roots);
	rescan_dropped(&scan);
	mark_links(&scan);
	return outcome(&scan);
}

enum mu_status
mu_mark(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns)
{
	return mu_mark_bounded(
	    blocks, roots, memory, arena, deadline_ns, usual_depth(blocks));
}

enum mu_status
mu_mark_unsuspected(struct mu_blocks *blocks, const struct mu_range *suspects,
    size_t count, struct mu_memory *memory, struct mu_arena *arena,
    uint64_t deadline_ns)
{
	struct mu_scan scan = { .blocks = blocks,
		.memory = memory,
		.deadline = { .ns = deadline_ns } };
	struct acquittal acquittal = { &scan, suspects, count, 0 };
	enum mu_status status = mu_scan_open(&scan, arena, usual_depth(blocks));

	if (status != MU_OK)
		return status;
	mu_blocks_each_unmarked(blocks, acquit, &acquittal);
	rescan_dropped(&scan);
	mark_put_off(&scan);
	return outcome(&scan);
}

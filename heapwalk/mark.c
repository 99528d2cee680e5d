/*
 * Mark every block that can be reached from the roots: scan them, and judge
 * the words that may be old links.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark.h"

#include "heapwalk/mark_links.h"
#include "heapwalk/mark_roots.h"

/* Entries of the stack: half the blocks, within these. */
#define MIN_DEPTH ((size_t)1 << 16)
#define MAX_DEPTH ((size_t)1 << 22)

static size_t
usual_depth(const struct mu_blocks *blocks)
{
	size_t max_depth = blocks->count / 2;

	if (max_depth < MIN_DEPTH)
		max_depth = MIN_DEPTH;
	return max_depth < MAX_DEPTH ? max_depth : MAX_DEPTH;
}

static enum mu_status
outcome(const struct mu_marking *marking)
{
	if (marking->passed)
		return MU_ERR_TIMEOUT;
	return marking->links_lost ? MU_PARTIAL : MU_OK;
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
	if (mu_scan_mark(acquittal->scan, block)) {
		mu_scan_block(acquittal->scan, begin);
		mu_scan_drain(acquittal->scan);
	}
	return !acquittal->scan->deadline.passed;
}

/* The one ticket there is. */
static void
acquit_all(void *ctx, struct mu_scan *scan, size_t ticket)
{
	struct acquittal *acquittal = ctx;

	(void)ticket;
	acquittal->scan = scan;
	mu_blocks_each_unmarked(scan->blocks, acquit, acquittal);
}

enum mu_status
mu_mark_bounded(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns,
    size_t max_depth)
{
	struct mu_marking marking;
	enum mu_status status;

	status = mu_marking_open(&marking, blocks, memory, arena, deadline_ns,
	    max_depth, blocks->bytes + roots->bytes);
	if (status != MU_OK) {
		mu_marking_close(&marking);
		return status;
	}
	mu_mark_roots(&marking, roots);
	mu_mark_links(&marking);
	mu_marking_close(&marking);
	return outcome(&marking);
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
	struct acquittal acquittal = { NULL, suspects, count, 0 };
	struct mu_marking marking;
	enum mu_status status;

	status = mu_marking_open(&marking, blocks, memory, arena, deadline_ns,
	    usual_depth(blocks), 0);
	if (status != MU_OK) {
		mu_marking_close(&marking);
		return status;
	}
	mu_marking_run(&marking, 1, 1, acquit_all, &acquittal);
	mu_mark_put_off(&marking);
	mu_marking_close(&marking);
	return outcome(&marking);
}

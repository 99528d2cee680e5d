/*
 * Sweeping: blocks that are marked and not taken are scanned in the order of
 * their addresses.
 *
 * A graph whose next block lies anywhere costs a miss of the TLB and several
 * of the caches a block. So as soon as more blocks are pending than a stack
 * holds, none goes on a stack any more, and the bitmaps say what is pending.
 * Neighbours share pages and page walks, and what a sweep marks ahead of
 * itself it scans, too: a random graph takes three or four of them.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/batch.h"
#include "heapwalk/spans.h"

/* Those of word NUMBER that are marked and not taken: taken now. */
static uint64_t
take_marked(struct mu_scan *scan, const struct mu_span *span, size_t number)
{
	uint64_t *marks = mu_span_marks(span, number), last = 1ull << 63;
	uint64_t before = __atomic_load_n(marks, __ATOMIC_RELAXED), fresh;

	fresh = before & ~(before >> 1) & *mu_span_starts(span, number);
	if (fresh == 0)
		return 0;
	fresh &= ~(mu_scan_set_bits(scan, marks, fresh << 1) >> 1);
	if ((fresh & last) != 0 &&
	    (mu_scan_set_bits(scan, marks + 2, 1) & 1) != 0)
		fresh &= ~last;
	return fresh;
}

bool
mu_scan_swept(struct mu_scan *scan, uintptr_t *begin)
{
	const struct mu_span *span = scan->sweep.span;
	size_t number;

	while (scan->sweep.taken == 0) {
		if (scan->sweep.next == scan->sweep.end)
			return false;
		number = scan->sweep.next++;
		scan->sweep.taken = take_marked(scan, span, number);
	}
	number = (scan->sweep.next - 1) * MU_WORD_BITS +
	    (size_t)__builtin_ctzll(scan->sweep.taken);
	scan->sweep.taken &= scan->sweep.taken - 1;
	scan->sweep.count++;
	*begin = span->range.begin + number * MU_GRAIN;
	return true;
}

/* A batch of them; false: there are none. */
static bool
gather(struct mu_scan *scan)
{
	struct mu_sweep *sweep = &scan->sweep;
	uintptr_t begin;
	uint64_t taken;

	while (sweep->next < sweep->end &&
	    scan->batch.num_blocks <= MU_BATCH_BLOCKS - MU_WORD_BITS) {
		begin = sweep->span->range.begin +
		    sweep->next * MU_WORD_BITS * MU_GRAIN;
		taken = take_marked(scan, sweep->span, sweep->next++);
		for (; taken != 0; taken &= taken - 1)
			mu_batch_add(scan, sweep->span,
			    begin + (size_t)__builtin_ctzll(taken) * MU_GRAIN);
	}
	sweep->count += scan->batch.num_blocks;
	return scan->batch.num_blocks > 0;
}

void
mu_scan_sweep(
    struct mu_scan *scan, struct mu_span *span, size_t next, size_t end)
{
	scan->sweep.span = span;
	scan->sweep.next = next;
	scan->sweep.end = end;
	if (scan->sweeping && mu_batch_possible(scan))
		while (!mu_share_is_over(scan->share) && gather(scan))
			mu_batch_scan(scan);
	mu_scan_drain(scan);
}

#include "lib/growth/heap_growth.h"

#define PAGE ((uint64_t)4096)
#define FRAGMENTS ((uint64_t)256 << 10) /* less is what arenas keep anyway */

static uint64_t
at_least(uint64_t bytes, uint64_t least)
{
	return bytes > least ? bytes : least;
}

void
mu_heap_growth_judge(struct mu_heap_growth *heap, const uint64_t *times_ns,
    const uint64_t totals[MU_HEAP_TOTALS][MU_KEPT_LOOKS], size_t count)
{
	struct mu_growth_rule rule = { .certain = MU_GROWTH_ONE, .least = 1 };

	*heap = (struct mu_heap_growth) { .few = PAGE };
	if (count == 0)
		return;
	heap->lost =
	    mu_growth_judge(totals[MU_HEAP_LOST], times_ns, count, &rule);
	rule.curve = true;
	rule.least = heap->few =
	    at_least(totals[MU_HEAP_LIVE][count - 1] / 1000, PAGE);
	heap->live =
	    mu_growth_judge(totals[MU_HEAP_LIVE], times_ns, count, &rule);
	rule.least = at_least(totals[MU_HEAP_ALL][count - 1] / 20, FRAGMENTS);
	heap->held_free =
	    mu_growth_judge(totals[MU_HEAP_FREE], times_ns, count, &rule);
	/* What was freed and is kept leaves the heap as large as it was. */
	heap->held_free.grows &=
	    mu_growth_judge(totals[MU_HEAP_ALL], times_ns, count, &rule).grows;
}

enum MemunreachableVerdict
mu_heap_growth_verdict(
    const struct mu_heap_growth *heap, struct mu_growth *growth)
{
	*growth = heap->lost;
	if (growth->grows)
		return MEMUNREACHABLE_VERDICT_LEAK;
	*growth = heap->live;
	if (growth->grows)
		return MEMUNREACHABLE_VERDICT_GROWTH;
	*growth = heap->held_free;
	if (growth->grows)
		return MEMUNREACHABLE_VERDICT_FRAGMENTATION;
	*growth = (struct mu_growth) { .grows = false };
	return MEMUNREACHABLE_VERDICT_STEADY;
}

enum MemunreachableVerdict
mu_kept_verdict(const struct mu_kept *kept)
{
	if (kept->taken == 0)
		return MEMUNREACHABLE_VERDICT_UNCHECKED;
	return kept->taken < MU_GROWTH_LOOKS ? MEMUNREACHABLE_VERDICT_TOO_FEW
					     : MEMUNREACHABLE_VERDICT_STEADY;
}

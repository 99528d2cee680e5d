/*
 * Marking by references that are no addresses: see heapwalk/mark_encoded.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark_encoded.h"

#include "heapwalk/encodings.h"
#include "heapwalk/mark_links.h"

struct look {
	struct mu_scan *scan;
	size_t fresh; /* blocks that were not marked */
};

static void
reach(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct look *look = ctx;

	(void)at;
	look->fresh += mu_scan_reach(look->scan, to);
}

static bool
look_at_block(void *ctx, const struct mu_block *block)
{
	struct look *look = ctx;

	if (mu_range_size(block->range) == MU_ENCODED_SIZE &&
	    mu_block_marked(block))
		mu_encodings_each(look->scan->blocks, block, reach, look);
	return !mu_deadline_passed(&look->scan->deadline, 1);
}

void
mu_mark_encoded(struct mu_marking *marking)
{
	struct look look = { .scan = &marking->scans[0] };

	while (marking->blocks->encodings && !marking->passed) {
		look.fresh = 0;
		look.scan->alone = true;
		mu_blocks_each(marking->blocks, look_at_block, &look);
		if (look.fresh == 0)
			return;
		mu_marking_run(marking, 1, 0, NULL, NULL);
		mu_mark_put_off(marking);
	}
}

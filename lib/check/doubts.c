#include "lib/check/doubts.h"

#include "heapwalk/subject/dynamic_symbols.h"
#include "ptrace/remote/alternate_stacks.h"

/* Leaked blocks that are large enough for an alternate signal stack. */
struct large_lost {
	size_t count;
	struct mu_range largest;
};

static bool
take_large(void *ctx, const struct mu_block *block)
{
	struct large_lost *lost = ctx;

	if (mu_range_size(block->range) < MU_ALTERNATE_STACK_MIN)
		return true;
	if (mu_range_size(block->range) > mu_range_size(lost->largest))
		lost->largest = block->range;
	lost->count++;
	return true;
}

enum mu_status
mu_doubt_stacks(
    const struct mu_check_look *look, const char *because, struct mu_why *why)
{
	struct large_lost lost = { .count = 0 };

	mu_blocks_each_unmarked(
	    &look->analysis.search.heap.blocks, take_large, &lost);
	if (lost.count == 0 || !mu_may_call_sigaltstack(look->snap))
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%zu of them can be alternate signal stacks, having %d bytes or"
	    " more (the largest: %zu at %lx): the program may call"
	    " sigaltstack(), and %s",
	    lost.count, MU_ALTERNATE_STACK_MIN, mu_range_size(lost.largest),
	    (unsigned long)lost.largest.begin, because);
}

enum mu_status
mu_doubt_untouched(size_t bytes, struct mu_why *why)
{
	if (bytes == 0)
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%zu MiB of shared memory that the process has not touched were not"
	    " searched: what only they refer to may be among these",
	    (bytes + 0xfffff) >> 20);
}

enum mu_status
mu_doubt_moved(struct mu_check_look *look, const struct mu_moved_source *source,
    struct mu_why *why)
{
	return mu_moved_since(look->snap, &look->analysis.search.heap.blocks,
	    source, &look->analysis.tables, why);
}

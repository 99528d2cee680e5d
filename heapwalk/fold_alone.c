/*
 * Entries of one block each: see heapwalk/fold_alone.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/fold_alone.h"

#include "heapwalk/similar.h"

/* The largest blocks so far, the smallest of them first: a heap. */
struct largest {
	struct mu_leak *entries;
	size_t count, max;
	struct mu_leaks *leaks;
};

static bool
comes_first(struct mu_range a, struct mu_range b)
{
	if (mu_range_size(a) != mu_range_size(b))
		return mu_range_size(a) > mu_range_size(b);
	return a.begin < b.begin;
}

static void
sift_down(struct largest *largest, size_t at)
{
	struct mu_leak *entries = largest->entries;
	struct mu_range range = entries[at].range;
	size_t child;

	for (; (child = 2 * at + 1) < largest->count; at = child) {
		if (child + 1 < largest->count &&
		    comes_first(entries[child].range, entries[child + 1].range))
			child++;
		if (!comes_first(range, entries[child].range))
			break;
		entries[at].range = entries[child].range;
	}
	entries[at].range = range;
}

static bool
take(void *ctx, const struct mu_block *block)
{
	struct largest *largest = ctx;
	size_t i;

	mu_leaks_add_unrecorded(largest->leaks, mu_range_size(block->range));
	if (largest->count < largest->max) {
		largest->entries[largest->count++].range = block->range;
		if (largest->count == largest->max)
			for (i = largest->max / 2; i-- > 0;)
				sift_down(largest, i);
	} else if (comes_first(block->range, largest->entries[0].range)) {
		largest->entries[0].range = block->range;
		sift_down(largest, 0);
	}
	return true;
}

static void
describe(struct mu_leak *leak, const struct mu_blocks *blocks,
    struct mu_arena *arena)
{
	struct mu_owner owner = { .component = 0 };

	leak->total_size = mu_range_size(leak->range);
	if (!mu_blocks_find(blocks, leak->range.begin, &owner.block))
		return;
	mu_owner_know(&owner, blocks->recorder);
	owner.bytes = owner.size;
	mu_owner_describe(leak, &owner, blocks->recorder, arena);
}

void
mu_fold_alone(struct mu_leaks *leaks, const struct mu_blocks *blocks,
    size_t limit, struct mu_arena *arena)
{
	struct largest largest = { .max = limit, .leaks = leaks };
	size_t i;

	if (largest.max > leaks->num_leaks)
		largest.max = leaks->num_leaks;
	for (; largest.max > 0; largest.max /= 2) {
		largest.entries = mu_arena_alloc(
		    arena, largest.max, sizeof(*largest.entries));
		if (largest.entries != NULL)
			break;
	}
	if (largest.max == 0)
		return;
	mu_blocks_each_unmarked(blocks, take, &largest);
	for (i = 0; i < largest.count; i++) {
		leaks->unreported_bytes -=
		    mu_range_size(largest.entries[i].range);
		describe(&largest.entries[i], blocks, arena);
	}
	mu_leaks_sort(largest.entries, largest.count);
	leaks->entries = largest.entries;
	leaks->num_entries = largest.count;
	leaks->num_total = leaks->num_leaks;
	leaks->unreported_count -= largest.count;
}

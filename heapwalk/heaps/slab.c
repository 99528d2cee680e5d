#include "heapwalk/heaps/slab.h"

#include "heapwalk/heaps/spans.h"

const char *
mu_heap_view(const struct mu_snapshot *snap, struct mu_range range)
{
	const char *view =
	    mu_snapshot_view(snap, range.begin, mu_range_size(range));

	if (view != NULL)
		return view;
	mu_snapshot_unlock(snap, range);
	return mu_snapshot_view(snap, range.begin, mu_range_size(range));
}

static bool
is_live(const struct mu_slab *slab, size_t block)
{
	return (slab->live[block / 64] >> (block % 64) & 1) != 0;
}

size_t
mu_slab_live(const struct mu_slab *slab)
{
	size_t words = slab->count / 64, rest = slab->count % 64, count = 0, i;

	for (i = 0; i < words; i++)
		count += mu_popcount(slab->live[i]);
	if (rest > 0)
		count += mu_popcount(slab->live[i] & ((1ull << rest) - 1));
	return count;
}

/* Blocks that stand alone: large ones, and those of no whole grains. */
static enum mu_status
add_listed(struct mu_heap *heap, const struct mu_slab *slab,
    const struct mu_heap_member *member)
{
	size_t size = slab->size, i;
	struct mu_blocks *blocks = &heap->blocks;
	enum mu_status status;
	uintptr_t begin;

	for (i = 0; i < slab->count; i++) {
		if (!is_live(slab, i))
			continue;
		begin = slab->range.begin + i * size;
		status = mu_blocks_add(blocks,
		    (struct mu_range) { begin, begin + size },
		    slab->view + i * size, false);
		if (status != MU_OK)
			return status;
		blocks->listed[blocks->num_listed - 1].heap = member;
	}
	return MU_OK;
}

static enum mu_status
add_span(struct mu_heap *heap, const struct mu_slab *slab, size_t live,
    const struct mu_heap_member *member)
{
	size_t grains = slab->size / MU_GRAIN, i;
	struct mu_span *span =
	    mu_blocks_add_span(&heap->blocks, slab->range, slab->view);

	if (span == NULL)
		return MU_ERR_NO_MEMORY;
	span->heap = member;
	for (i = 0; i < slab->count; i++)
		mu_span_begin(span, i * grains, is_live(slab, i), 0);
	mu_span_begin(span, i * grains, 0, 0);
	span->count = live;
	span->bytes = live * slab->size;
	return MU_OK;
}

enum mu_status
mu_slab_add(struct mu_heap *heap, const struct mu_slab *slab,
    const struct mu_heap_member *member)
{
	size_t live = mu_slab_live(slab);

	heap->usage.live_reachable += live * slab->size;
	if (live == 0)
		return MU_OK;
	return slab->count > 1 && slab->size % MU_GRAIN == 0 &&
		slab->range.begin % MU_GRAIN == 0
	    ? add_span(heap, slab, live, member)
	    : add_listed(heap, slab, member);
}

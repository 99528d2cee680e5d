/*
 * Read a heap of jemalloc: the extents of its tree, less what tcaches hold.
 * Either all counters of jemalloc agree or the heap is refused.
 */
#include "heapwalk/heaps/jemalloc/jemalloc.h"

#include <string.h>

#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/classify.h"

static bool
is_live(const struct mu_je_extent *extent, size_t region)
{
	return (extent->live[region / 64] >> (region % 64) & 1) != 0;
}

/* Blocks that stand alone: large ones, and those of no whole grains. */
static enum mu_status
add_listed(struct mu_heap *heap, const struct mu_je_extent *extent,
    const char *view, const struct mu_heap_member *member)
{
	size_t size = extent->size, i, at;
	struct mu_blocks *blocks = &heap->blocks;
	enum mu_status status;

	for (i = 0; i < extent->regions; i++) {
		if (!is_live(extent, i))
			continue;
		at = extent->begin - extent->range.begin + i * size;
		status = mu_blocks_add(blocks,
		    (struct mu_range) { extent->range.begin + at,
			extent->range.begin + at + size },
		    view + at, false);
		if (status != MU_OK)
			return status;
		blocks->listed[blocks->num_listed - 1].heap = member;
		heap->usage.live_reachable += size;
	}
	return MU_OK;
}

static enum mu_status
add_slab(struct mu_heap *heap, const struct mu_je_extent *extent,
    const char *view, const struct mu_heap_member *member)
{
	size_t size = extent->size, i, live;
	struct mu_span *span =
	    mu_blocks_add_span(&heap->blocks, extent->range, view);

	if (span == NULL)
		return MU_ERR_NO_MEMORY;
	span->heap = member;
	for (i = 0; i < extent->regions; i++) {
		live = is_live(extent, i);
		mu_span_begin(span, i * size / MU_GRAIN, live, 0);
		span->count += live;
	}
	mu_span_begin(span, i * size / MU_GRAIN, 0, 0);
	span->bytes = span->count * size;
	heap->usage.live_reachable += span->bytes;
	return MU_OK;
}

static enum mu_status
add_extent(struct mu_heap *heap, const struct mu_je_walk *walk,
    const struct mu_je_extent *extent, const struct mu_heap_member *member)
{
	size_t size = mu_range_size(extent->range);
	const char *view;

	if (!mu_ranges_add(&heap->owned, extent->range))
		return mu_je_no_memory(walk);
	if (!extent->active)
		return MU_OK;
	view = mu_snapshot_view(walk->snap, extent->range.begin, size);
	if (view == NULL) {
		mu_snapshot_unlock(walk->snap, extent->range);
		view = mu_snapshot_view(walk->snap, extent->range.begin, size);
	}
	if (view == NULL)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "jemalloc: the extent at %p cannot be read",
		    (void *)extent->range.begin);
	return extent->slab && extent->size % MU_GRAIN == 0
	    ? add_slab(heap, extent, view, member)
	    : add_listed(heap, extent, view, member);
}

/* Free memory is that of tcaches, of slabs, and of extents not in use. */
static enum mu_status
add_all(struct mu_heap *heap, const struct mu_je_walk *walk,
    const struct mu_heap_member *member)
{
	size_t before = heap->usage.live_reachable, i, held = 0, rejected;
	enum mu_status status = MU_OK;

	for (i = 0; status == MU_OK && i < walk->num_extents; i++) {
		status = add_extent(heap, walk, &walk->extents[i], member);
		held += mu_range_size(walk->extents[i].range);
	}
	if (status == MU_ERR_NO_MEMORY)
		return mu_je_no_memory(walk);
	if (status != MU_OK)
		return status;
	heap->usage.overhead += walk->internal;
	heap->usage.free_held +=
	    held - walk->internal - (heap->usage.live_reachable - before);
	if (!mu_ranges_add_all(
		&heap->owned, walk->bases.items, walk->bases.count))
		return mu_je_no_memory(walk);
	mu_ranges_seal(&heap->owned);
	status = mu_blocks_seal(&heap->blocks, &rejected);
	return status == MU_OK && rejected == 0
	    ? MU_OK
	    : mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		  "jemalloc: extents overlap");
}

/* In this process a freeze of jemalloc would be needed, which there is not. */
static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_jemalloc found, *state;
	enum mu_status status;

	if (!snap->unfrozen)
		return MU_OK;
	status = mu_je_find(&found, snap, why);
	if (status != MU_OK || found.file == NULL)
		return status;
	state = mu_arena_alloc(arena, 1, sizeof(*state));
	if (state == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of heaps");
	*state = found;
	member->state = state;
	return MU_OK;
}

static bool
has_file(const struct mu_heap_member *member, const struct mu_mapping *mapping)
{
	const struct mu_jemalloc *je = member->state;

	return mu_mapping_same_file(je->file, mapping);
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_je_walk walk = {
		.snap = snap,
		.memory = arena,
		.why = why,
		.je = *(const struct mu_jemalloc *)member->state,
	};
	enum mu_status status;

	mu_ranges_open(&walk.bases, arena);
	status = mu_je_arenas_read(&walk);
	if (status == MU_OK)
		status = mu_je_inside(&walk);
	if (status == MU_OK)
		status = mu_je_extents_read(&walk);
	if (status == MU_OK)
		status = mu_je_counts_check(&walk);
	if (status == MU_OK)
		status = mu_je_tcaches_take(&walk);
	mu_je_tsds_take(&walk);
	if (status == MU_OK)
		status = mu_je_internal_check(&walk);
	return status == MU_OK ? add_all(heap, &walk, member) : status;
}

const struct mu_heap_ops mu_heap_jemalloc = {
	.name = "jemalloc",
	.detect = detect,
	.has_file = has_file,
	.list = list,
};

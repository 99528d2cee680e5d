/*
 * Read a heap of jemalloc: the extents of its tree, less what tcaches hold.
 * Either all counters of jemalloc agree or the heap is refused.
 */
#include "heapwalk/heaps/jemalloc/jemalloc.h"

#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/slab.h"

static enum mu_status
add_extent(struct mu_heap *heap, const struct mu_je_walk *walk,
    const struct mu_je_extent *extent, const struct mu_heap_member *member)
{
	struct mu_slab slab = {
		.range = { extent->begin, extent->range.end },
		.size = extent->size,
		.count = extent->regions,
		.live = extent->live,
	};

	if (!mu_ranges_add(&heap->owned, extent->range))
		return mu_heap_no_memory(walk->why);
	if (!extent->active)
		return MU_OK;
	slab.view = mu_heap_view(walk->snap, extent->range);
	if (slab.view == NULL)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "jemalloc: the extent at %p cannot be read",
		    (void *)extent->range.begin);
	slab.view += extent->begin - extent->range.begin;
	return mu_slab_add(heap, &slab, member);
}

/* Free memory is that of tcaches, of slabs, and of extents not in use. */
static enum mu_status
add_all(struct mu_heap *heap, const struct mu_je_walk *walk,
    const struct mu_heap_member *member)
{
	size_t before = heap->usage.live_reachable, i, held = 0;
	enum mu_status status = MU_OK;

	for (i = 0; status == MU_OK && i < walk->num_extents; i++) {
		status = add_extent(heap, walk, &walk->extents[i], member);
		held += mu_range_size(walk->extents[i].range);
	}
	if (status == MU_ERR_NO_MEMORY)
		return mu_heap_no_memory(walk->why);
	if (status != MU_OK)
		return status;
	heap->usage.overhead += walk->internal;
	heap->usage.free_held +=
	    held - walk->internal - (heap->usage.live_reachable - before);
	return mu_heap_seal(heap, "jemalloc", &walk->bases, walk->why);
}

/* In this process a freeze of jemalloc would be needed, which there is not. */
static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_jemalloc je;
	enum mu_status status;

	if (!snap->unfrozen)
		return MU_OK;
	status = mu_je_find(&je, snap, why);
	return status != MU_OK
	    ? status
	    : mu_heap_found_keep(member, &je.found, sizeof(je), arena, why);
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
	.has_file = mu_heap_found_has_file,
	.list = list,
};

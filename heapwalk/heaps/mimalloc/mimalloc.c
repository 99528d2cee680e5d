/*
 * Read a heap of mimalloc: the pages of its segments, less the blocks that are
 * free. Either all that mimalloc counts agrees or the heap is refused.
 */
#include "heapwalk/heaps/mimalloc/mimalloc.h"

#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/slab.h"

/* Free slices are counted nowhere: most were never touched. */
static enum mu_status
add_page(struct mu_heap *heap, const struct mu_mi_page *page,
    const struct mu_heap_member *member)
{
	struct mu_slab slab = {
		.range = page->range,
		.size = page->size,
		.count = page->capacity,
		.live = page->live,
		.view = page->view,
	};

	heap->usage.free_held +=
	    mu_range_size(page->range) - mu_slab_live(&slab) * page->size;
	return mu_slab_add(heap, &slab, member);
}

static enum mu_status
add_all(struct mu_heap *heap, const struct mu_mi_walk *walk,
    const struct mu_heap_member *member)
{
	enum mu_status status = MU_OK;
	size_t i, rejected = 0;

	for (i = 0; status == MU_OK && i < walk->num_pages; i++)
		status = add_page(heap, &walk->pages[i], member);
	heap->usage.overhead += walk->overhead;
	if (status == MU_OK &&
	    !mu_ranges_add_all(
		&heap->owned, walk->owned.items, walk->owned.count))
		status = MU_ERR_NO_MEMORY;
	mu_ranges_seal(&heap->owned);
	if (status == MU_OK)
		status = mu_blocks_seal(&heap->blocks, &rejected);
	if (status == MU_ERR_NO_MEMORY)
		return mu_mi_no_memory(walk);
	return status == MU_OK && rejected == 0
	    ? MU_OK
	    : mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		  "mimalloc's pages overlap other heaps");
}

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_mimalloc mi;

	mu_mi_find(&mi, snap);
	return mu_heap_found_keep(member, &mi.found, sizeof(mi), arena, why);
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_mi_walk walk = {
		.snap = snap,
		.memory = arena,
		.why = why,
		.mi = *(const struct mu_mimalloc *)member->state,
	};
	enum mu_status status;

	mu_ranges_open(&walk.owned, arena);
	status = mu_mi_segments_read(&walk);
	if (status == MU_OK)
		status = mu_mi_pages_read(&walk);
	if (status == MU_OK)
		status = mu_mi_heaps_check(&walk);
	return status == MU_OK ? add_all(heap, &walk, member) : status;
}

const struct mu_heap_ops mu_heap_mimalloc = {
	.name = "mimalloc",
	.detect = detect,
	.has_file = mu_heap_found_has_file,
	.list = list,
};

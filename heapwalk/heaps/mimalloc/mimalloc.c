/*
 * Read a heap of mimalloc: its pages, less the blocks that are free. Either all
 * that mimalloc counts agrees or the heap is refused.
 */
#include "heapwalk/heaps/mimalloc/mimalloc.h"

#include "heapwalk/heaps/listing.h"
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
	size_t i;

	for (i = 0; status == MU_OK && i < walk->num_pages; i++)
		status = add_page(heap, &walk->pages[i], member);
	heap->usage.overhead += walk->overhead;
	if (status != MU_OK)
		return mu_heap_no_memory(walk->why);
	return mu_heap_seal(heap, "mimalloc", &walk->owned, walk->why);
}

static enum mu_status
read_headers(struct mu_mi_walk *walk)
{
	enum mu_status status;

	if (!mu_mi_has_arenas(walk->mi.layout))
		return mu_mi_segments_read(walk);
	status = mu_mi_arenas_read(walk);
	if (status == MU_OK)
		status = mu_mi_map_read(walk);
	return status == MU_OK ? mu_mi_arenas_check(walk) : status;
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
	status = read_headers(&walk);
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

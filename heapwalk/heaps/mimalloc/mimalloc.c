/*
 * Read a heap of mimalloc: the pages of its segments, less the blocks that are
 * free. Either all that mimalloc counts agrees or the heap is refused.
 */
#include "heapwalk/heaps/mimalloc/mimalloc.h"

#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/classify.h"

static bool
is_live(const struct mu_mi_page *page, size_t block)
{
	return (page->live[block / 64] >> (block % 64) & 1) != 0;
}

static size_t
count_live(const struct mu_mi_page *page)
{
	size_t count = 0, i;

	for (i = 0; page->capacity > 0 && i <= page->capacity / 64; i++)
		count += mu_popcount(page->live[i]);
	return count;
}

/* Blocks that stand alone: large ones, and those of no whole grains. */
static enum mu_status
add_listed(struct mu_heap *heap, const struct mu_mi_page *page,
    const struct mu_heap_member *member)
{
	size_t size = page->size, i;
	struct mu_blocks *blocks = &heap->blocks;
	enum mu_status status;
	uintptr_t begin;

	for (i = 0; i < page->capacity; i++) {
		if (!is_live(page, i))
			continue;
		begin = page->range.begin + i * size;
		status = mu_blocks_add(blocks,
		    (struct mu_range) { begin, begin + size },
		    page->view + i * size, false);
		if (status != MU_OK)
			return status;
		blocks->listed[blocks->num_listed - 1].heap = member;
	}
	return MU_OK;
}

static enum mu_status
add_span(struct mu_heap *heap, const struct mu_mi_page *page, size_t live,
    const struct mu_heap_member *member)
{
	size_t grains = page->size / MU_GRAIN, i;
	struct mu_span *span =
	    mu_blocks_add_span(&heap->blocks, page->range, page->view);

	if (span == NULL)
		return MU_ERR_NO_MEMORY;
	span->heap = member;
	for (i = 0; i < page->capacity; i++)
		mu_span_begin(span, i * grains, is_live(page, i), 0);
	mu_span_begin(span, i * grains, 0, 0);
	span->count = live;
	span->bytes = live * page->size;
	return MU_OK;
}

/* Free slices are counted nowhere: most were never touched. */
static enum mu_status
add_page(struct mu_heap *heap, const struct mu_mi_page *page,
    const struct mu_heap_member *member)
{
	size_t live = count_live(page), bytes = live * page->size;

	heap->usage.live_reachable += bytes;
	heap->usage.free_held += mu_range_size(page->range) - bytes;
	if (live == 0)
		return MU_OK;
	return page->capacity > 1 && page->size % MU_GRAIN == 0 &&
		page->range.begin % MU_GRAIN == 0
	    ? add_span(heap, page, live, member)
	    : add_listed(heap, page, member);
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
	struct mu_mimalloc found, *state;

	mu_mi_find(&found, snap);
	if (found.file == NULL)
		return MU_OK;
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
	const struct mu_mimalloc *mi = member->state;

	return mu_mapping_same_file(mi->file, mapping);
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
	.has_file = has_file,
	.list = list,
};

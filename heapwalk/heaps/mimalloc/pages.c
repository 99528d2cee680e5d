/*
 * Pages. mimalloc counts the blocks of a page that are in use, or
 * freed by a thread that does not own the page; those in its lists free and
 * local_free are the rest.
 */
#include <string.h>

#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/slab.h"
#include "heapwalk/heaps/view.h"

static enum mu_status
wrong(const struct mu_mi_walk *walk, uintptr_t page, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "mimalloc's page at %p has %s", (void *)page, rule);
}

enum mu_status
mu_mi_page_add(struct mu_mi_walk *walk, struct mu_mi_page *page,
    size_t reserved, struct mu_range slices)
{
	/* Until it has its first blocks a page may be of anything. */
	if (page->capacity == 0 && page->used == 0 && page->free == 0)
		return MU_OK;
	if (page->capacity > reserved || page->used > page->capacity ||
	    page->size == 0 || page->range.begin % 8 != 0 ||
	    page->size % 8 != 0 || !mu_range_has(slices, page->range.begin) ||
	    reserved > (slices.end - page->range.begin) / page->size)
		return wrong(walk, slices.begin, "an impossible size");
	page->range.end = page->range.begin + page->capacity * page->size;
	if (!mu_arena_room(walk->memory, walk->pages, walk->num_pages,
		walk->max_pages, 256))
		return mu_heap_no_memory(walk->why);
	walk->pages[walk->num_pages++] = *page;
	return MU_OK;
}

const char *
mu_mi_take(struct mu_mi_page *page, uintptr_t address)
{
	size_t at = address - page->range.begin, block = at / page->size;
	uint64_t bit = 1ull << (block % 64);

	if (block >= page->capacity || at != block * page->size ||
	    (page->live[block / 64] & bit) == 0)
		return NULL;
	page->live[block / 64] &= ~bit;
	return page->view + at;
}

/* The number of blocks of a list; more than the capacity: it is wrong. */
static size_t
take_list(struct mu_mi_page *page, uintptr_t block)
{
	const char *view;
	size_t count;

	for (count = 0; block != 0; count++) {
		view = mu_mi_take(page, block);
		if (view == NULL)
			return page->capacity + 1;
		block = mu_view_word(view);
	}
	return count;
}

static enum mu_status
read_page(struct mu_mi_walk *walk, struct mu_mi_page *page)
{
	size_t words = page->capacity / 64 + 1, count;

	page->live = mu_arena_alloc(walk->memory, words, sizeof(*page->live));
	if (page->live == NULL)
		return mu_heap_no_memory(walk->why);
	page->view = mu_heap_view(walk->snap, page->range);
	if (page->view == NULL)
		return wrong(
		    walk, page->range.begin, "blocks that cannot be read");
	memset(page->live, 0xff, words * sizeof(*page->live));
	page->live[words - 1] = (1ull << (page->capacity % 64)) - 1;
	count = take_list(page, page->free);
	if (count <= page->capacity)
		count += take_list(page, page->local_free);
	if (count + page->used != page->capacity)
		return wrong(walk, page->range.begin,
		    "lists of free blocks that its count of used ones"
		    " contradicts");
	if (take_list(page, page->thread_free) > page->used)
		return wrong(walk, page->range.begin,
		    "blocks freed by other threads that are not in use");
	return MU_OK;
}

enum mu_status
mu_mi_pages_read(struct mu_mi_walk *walk)
{
	struct mu_mi_page *page = walk->pages;
	const struct mu_mi_page *end = page + walk->num_pages;
	enum mu_status status = MU_OK;

	for (; status == MU_OK && page < end; page++)
		status = read_page(walk, page);
	return status;
}

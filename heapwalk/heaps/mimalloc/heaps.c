/*
 * Heaps (mi_heap_t): a thread has one, and those that it made. A heap counts
 * its pages, so that none is missed. What is in no heap is abandoned: its
 * thread ended.
 *
 * A heap has a list of freed blocks, of which their pages do not know
 * (thread_delayed_free).
 */
#include <string.h>

#include "heapwalk/heaps/mimalloc/heap.h"
#include "mu/sort.h"

/* Of a page. */
struct owner {
	uintptr_t heap, thread;
};

static enum mu_status
wrong(const struct mu_mi_walk *walk, uintptr_t heap, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "mimalloc's heap at %p has %s", (void *)heap, rule);
}

static struct mu_mi_page *
page_of(const struct mu_mi_walk *walk, uintptr_t address)
{
	size_t i = mu_ranges_upper(
	    walk->pages, walk->num_pages, sizeof(*walk->pages), address);

	return i > 0 && mu_range_has(walk->pages[i - 1].range, address)
	    ? &walk->pages[i - 1]
	    : NULL;
}

/* Each block is taken once, so that the list ends. */
static enum mu_status
take_delayed(struct mu_mi_walk *walk, uintptr_t heap)
{
	uintptr_t block =
	    mu_word_at(walk->snap, heap + walk->mi.layout->delayed_free);
	struct mu_mi_page *page;
	const char *view;

	while (block != 0) {
		page = page_of(walk, block);
		view = page == NULL ? NULL : mu_mi_take(page, block);
		if (view == NULL)
			return wrong(
			    walk, heap, "freed blocks that are not in use");
		memcpy(&block, view, sizeof(block));
	}
	return MU_OK;
}

static int
compare(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;

	if (a->heap != b->heap)
		return a->heap < b->heap ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* HEAP has COUNT pages, in segments of its own thread only. */
static enum mu_status
check_heap(struct mu_mi_walk *walk, const struct owner *pages, size_t count)
{
	const struct mu_snapshot *snap = walk->snap;
	const struct mu_mi_layout *layout = walk->mi.layout;
	uintptr_t heap = pages->heap, tld = mu_word_at(snap, heap);
	uintptr_t thread = mu_word_at(snap, heap + layout->heap_thread);
	uintptr_t backing = mu_word_at(snap, tld + MU_MI_TLD_BACKING);

	if (thread == 0 || mu_word_at(snap, backing) != tld ||
	    pages[0].thread != thread || pages[count - 1].thread != thread)
		return wrong(walk, heap, "pages of another thread");
	if (mu_word_at(snap, heap + layout->heap_pages) != count)
		return wrong(walk, heap, "another number of pages");
	return take_delayed(walk, heap);
}

enum mu_status
mu_mi_heaps_check(struct mu_mi_walk *walk)
{
	struct owner *pages =
	    mu_arena_alloc(walk->memory, walk->num_pages + 1, sizeof(*pages));
	enum mu_status status = MU_OK;
	size_t i, end;

	if (pages == NULL)
		return mu_mi_no_memory(walk);
	for (i = 0; i < walk->num_pages; i++)
		pages[i] = (struct owner) { walk->pages[i].heap,
			walk->segments[walk->pages[i].segment].thread };
	mu_sort(pages, walk->num_pages, sizeof(*pages), compare);
	for (i = 0; status == MU_OK && i < walk->num_pages; i = end) {
		for (end = i + 1;
		     end < walk->num_pages && pages[end].heap == pages[i].heap;
		     end++)
			continue;
		if (pages[i].heap != 0)
			status = check_heap(walk, &pages[i], end - i);
	}
	return status;
}

/*
 * Heaps (mi_heap_t, since 3.2 mi_theap_t): a thread has one, and those that it
 * made, and lists them. A heap counts its pages, so that none is missed: the
 * heaps of each thread of which a page was found are compared, and of the first
 * thread. What is in no heap is abandoned: its thread ended, or in mimalloc 3
 * it is full.
 *
 * In mimalloc 2 a heap has a list of freed blocks, of which their pages do not
 * know (thread_delayed_free).
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "mu/sort.h"

/* Of a page; tld: the data of the heap's thread (mi_tld_t). */
struct owner {
	uintptr_t heap, tld, thread;
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
	size_t delayed = walk->mi.layout->delayed_free;
	uintptr_t block =
	    delayed == 0 ? 0 : mu_word_at(walk->snap, heap + delayed);
	struct mu_mi_page *page;
	const char *view;

	while (block != 0) {
		page = page_of(walk, block);
		view = page == NULL ? NULL : mu_mi_take(page, block);
		if (view == NULL)
			return wrong(
			    walk, heap, "freed blocks that are not in use");
		block = mu_view_word(view);
	}
	return MU_OK;
}

static int
compare(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;

	if (a->tld != b->tld)
		return a->tld < b->tld ? -1 : 1;
	if (a->heap != b->heap)
		return a->heap < b->heap ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/*
 * The PAGES of HEAP are of its own thread, of which mimalloc 3 has the number
 * at the begin of mi_tld_t.
 */
static bool
is_thread(const struct mu_mi_walk *walk, uintptr_t heap,
    const struct owner *pages, size_t count)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t tld = mu_word_at(snap, heap);
	uintptr_t thread = mu_word_at(
	    snap, mu_mi_has_arenas(layout) ? tld : heap + layout->heap_thread);
	uintptr_t backing = layout->tld_backing == 0
	    ? heap
	    : mu_word_at(snap, tld + layout->tld_backing);

	return count == 0 ||
	    (thread != 0 && mu_word_at(snap, backing) == tld &&
		pages[0].thread == thread && pages[count - 1].thread == thread);
}

/*
 * Compare HEAP with its PAGES. Those of memory that the program gave, but which
 * is a file's or shared (mi_manage_os_memory()), were not found.
 */
static enum mu_status
check_heap(struct mu_mi_walk *walk, uintptr_t heap, const struct owner *pages,
    size_t count)
{
	uintptr_t counted =
	    mu_word_at(walk->snap, heap + walk->mi.layout->heap_pages);

	if (!is_thread(walk, heap, pages, count))
		return wrong(walk, heap, "pages of another thread");
	if (counted > count)
		return wrong(walk, heap, "pages that were not found");
	if (counted < count)
		return wrong(walk, heap, "another number of pages");
	return take_delayed(walk, heap);
}

/*
 * Compare all heaps of a thread; PAGES are those of its TLD, COUNT of heaps. A
 * heap has one tld, so that a list without end returns to one of its heaps:
 * seen is one of the last half of those read.
 */
static enum mu_status
check_thread(struct mu_mi_walk *walk, uintptr_t tld, const struct owner *pages,
    size_t count)
{
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t heap = mu_word_at(snap, tld + walk->mi.layout->tld_heaps);
	uintptr_t seen = 0;
	size_t first, end, steps = 0, found = 0;
	enum mu_status status = MU_OK;

	for (; status == MU_OK && heap != 0; steps++) {
		if (heap == seen || mu_word_at(snap, heap) != tld)
			return wrong(walk, heap,
			    "no place in the list that leads to it");
		if ((steps & (steps - 1)) == 0)
			seen = heap;
		first = mu_ranges_upper(pages, count, sizeof(*pages), heap - 1);
		end = mu_ranges_upper(pages, count, sizeof(*pages), heap);
		found += end - first;
		status = check_heap(walk, heap, pages + first, end - first);
		heap = mu_word_at(snap, heap + walk->mi.layout->heap_next);
	}
	if (status == MU_OK && found != count)
		return wrong(
		    walk, pages->heap, "a thread that does not list it");
	return status;
}

/* Pages of no heap, which are abandoned, have no tld either. */
static struct owner
owner_of(const struct mu_mi_walk *walk, const struct mu_mi_page *page)
{
	return (struct owner) {
		.heap = page->heap,
		.tld = page->heap == 0 ? 0 : mu_word_at(walk->snap, page->heap),
		.thread = page->thread,
	};
}

enum mu_status
mu_mi_heaps_check(struct mu_mi_walk *walk)
{
	size_t count = walk->num_pages + 1, i, end, first;
	struct owner *pages =
	    mu_arena_alloc(walk->memory, count, sizeof(*pages));
	enum mu_status status = MU_OK;

	if (pages == NULL)
		return mu_heap_no_memory(walk->why);
	for (i = 0; i < walk->num_pages; i++)
		pages[i] = owner_of(walk, &walk->pages[i]);
	/* The first thread, if no page of it was found, too. */
	pages[i] = (struct owner) { .tld = mu_word_at(walk->snap,
					mu_mi_main(walk->snap, &walk->mi)) };
	mu_sort(pages, count, sizeof(*pages), compare);
	for (i = 0; status == MU_OK && i < count; i = end) {
		for (end = first = i;
		     end < count && pages[end].tld == pages[i].tld; end++)
			first += pages[end].heap == 0;
		if (first < end || pages[i].tld != 0)
			status = check_thread(
			    walk, pages[i].tld, pages + first, end - first);
	}
	return status;
}

/*
 * The map of pages of mimalloc 3: free() finds a block's page there, so that it
 * has every page with blocks that the program has. Each slice of a page leads
 * to its header, mi_page_t, which is in front of the blocks or, since 3.3, in
 * the arena's own data.
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/view.h"

struct reading {
	struct mu_mi_walk *walk;
	struct mu_range part;
	uintptr_t first;  /* the address of which part.begin knows */
	uintptr_t header; /* of the page that was read last */
	enum mu_status status;
};

static enum mu_status
wrong(const struct mu_mi_walk *walk, uintptr_t header, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "mimalloc's page of %p has %s", (void *)header, rule);
}

/* The memory of a page in an arena, whose header at VIEW is at HEADER. */
static const char *
find_slices(struct mu_mi_walk *walk, const char *view, uintptr_t header,
    struct mu_range *slices)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	const char *memid = view + layout->page_memid;
	struct mu_mi_arena *arena = mu_mi_arena_at(walk, mu_view_word(memid));
	size_t index = mu_view_u32(memid + MU_MI3_MEMID_INDEX);
	size_t count = mu_view_u32(memid + MU_MI3_MEMID_COUNT);
	uintptr_t meta, heap;

	if (arena == NULL)
		return "an arena that is not listed";
	slices->begin = arena->range.begin + index * MU_MI_SLICE;
	slices->end = slices->begin + count * MU_MI_SLICE;
	meta = layout->arena_meta == 0
	    ? 0
	    : mu_word_at(walk->snap, arena->range.begin + layout->arena_meta);
	heap = layout->tld_backing != 0 ? 0
					: mu_view_word(view + MU_MI3_PAGE_HEAP);
	if (index * MU_MI_SLICE < arena->info ||
	    slices->end > arena->range.end ||
	    (header != slices->begin &&
		(meta == 0 || header != meta + index * layout->page_size)))
		return "another place in its arena";
	if (!mu_mi_arena_has(walk->snap, &walk->mi, arena, heap, index))
		return "an arena that does not know it";
	arena->pages++;
	return NULL;
}

/* Of a page that is no arena's: its header is at the begin of its slices. */
static const char *
find_memory(struct mu_mi_walk *walk, const char *view, uintptr_t header,
    struct mu_range *slices)
{
	const char *memid = view + walk->mi.layout->page_memid;
	uint32_t kind = mu_view_u32(memid + MU_MI3_MEMID_KIND);
	uintptr_t base = mu_view_word(memid);
	size_t size = mu_view_word(memid + MU_MI3_MEMID_SIZE);

	if (kind == MU_MI3_MEM_ARENA)
		return find_slices(walk, view, header, slices);
	if (kind < MU_MI3_MEM_OS || kind > MU_MI3_MEM_OS_REMAP)
		return "memory of another kind";
	if (size > mu_mi_mapped(walk->snap, base) || base > header ||
	    header - base >= size)
		return "memory that is not its own";
	*slices = (struct mu_range) { header, base + size };
	return NULL;
}

static void
read_header(const struct mu_mi_layout *layout, const char *view,
    uintptr_t header, struct mu_mi_page *page)
{
	uintptr_t thread = mu_view_word(view) & ~(uintptr_t)MU_MI3_FLAGS;

	*page = (struct mu_mi_page) {
		.range.begin = mu_view_word(view + layout->page_start),
		.size = mu_view_word(view + layout->block_size),
		.capacity = mu_view_u16(view + MU_MI3_PAGE_CAPACITY),
		.free = mu_view_word(view + MU_MI3_PAGE_FREE),
		.local_free = mu_view_word(view + layout->local_free),
		.thread_free = mu_view_word(view + layout->thread_free) &
		    ~(uintptr_t)MU_MI_DELAYED,
		.used = mu_view_u16(view + layout->used),
	};
	if (layout->starts == MU_MI_STARTS_WORDS)
		page->range.begin =
		    header + (uint32_t)page->range.begin * sizeof(uintptr_t);
	if (thread <= MU_MI3_ABANDONED)
		return;
	page->thread = thread;
	page->heap = mu_view_word(view + layout->heap);
}

/* Add the page with HEADER, of which SLICE is the first that leads to it. */
static enum mu_status
add_page(struct mu_mi_walk *walk, uintptr_t header, uintptr_t slice)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	const char *view =
		       mu_snapshot_view(walk->snap, header, layout->page_size),
		   *rule;
	struct mu_range slices;
	struct mu_mi_page page;

	if (view == NULL)
		return wrong(walk, header, "no header");
	rule = find_memory(walk, view, header, &slices);
	if (rule != NULL)
		return wrong(walk, header, rule);
	if (!mu_ranges_add(&walk->owned, slices))
		return mu_heap_no_memory(walk->why);
	read_header(layout, view, header, &page);
	if (slice != slices.begin &&
	    slice != page.range.begin - page.range.begin % MU_MI_SLICE)
		return wrong(walk, header, "slices of another page");
	if (walk->num_pages > 0 &&
	    page.range.begin < walk->pages[walk->num_pages - 1].range.end)
		return wrong(walk, header, "blocks of another page");
	if (page.thread != 0 && page.heap == 0)
		return wrong(walk, header, "a thread, but no heap");
	return mu_mi_page_add(
	    walk, &page, mu_view_u16(view + MU_MI3_PAGE_RESERVED), slices);
}

static bool
see_header(void *ctx, uintptr_t at, uintptr_t word)
{
	struct reading *reading = ctx;
	size_t slice = (at - reading->part.begin) / sizeof(word);

	if (word == reading->header)
		return true;
	reading->header = word;
	reading->status =
	    add_page(reading->walk, word, reading->first + slice * MU_MI_SLICE);
	return reading->status == MU_OK;
}

/*
 * Of the first part, which before 3.1 has another size and something at
 * address 0, nothing is read: mmap() gives out no memory below
 * TASK_UNMAPPED_BASE, a third of what there is.
 */
static bool
see_part(void *ctx, uintptr_t at, uintptr_t word)
{
	struct reading *reading = ctx;
	struct mu_mi_walk *walk = reading->walk;
	size_t place = (at - walk->mi.map.begin) / sizeof(word);

	if (place == 0)
		return true;
	reading->part = (struct mu_range) { word, word + MU_MI3_MAP_PART };
	reading->first = place << MU_MI3_MAP_SHIFT;
	if (word % sizeof(word) != 0 ||
	    mu_mi_mapped(walk->snap, word) < MU_MI3_MAP_PART)
		reading->status = wrong(walk, at, "a map without memory");
	else if (!mu_ranges_add(&walk->owned, reading->part))
		reading->status = mu_heap_no_memory(walk->why);
	else
		mu_each_word(walk->snap, reading->part, see_header, reading);
	return reading->status == MU_OK;
}

enum mu_status
mu_mi_map_read(struct mu_mi_walk *walk)
{
	struct reading reading = { .walk = walk, .status = MU_OK };

	if (!mu_ranges_add(&walk->owned, walk->mi.map))
		return mu_heap_no_memory(walk->why);
	mu_each_word(walk->snap, walk->mi.map, see_part, &reading);
	return reading.status;
}

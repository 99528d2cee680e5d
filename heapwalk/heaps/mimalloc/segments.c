/*
 * Segments, of mimalloc 2: memory aligned to 32 MiB that begins with a header.
 * A segment has its own address in its cookie, so that the data of programs is
 * none. One that is free (_mi_segment_cache_push(), _mi_arena_free()) may keep
 * its header: it has no page in use.
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

struct header {
	uintptr_t abandoned, used, slices, info, entries, thread;
};

static enum mu_status
wrong(const struct mu_mi_walk *walk, uintptr_t segment, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "mimalloc's segment at %p has %s", (void *)segment, rule);
}

/* MAX: the mapped bytes from the segment on. */
static const char *
check_header(const struct header *header, size_t max)
{
	if (header->info == 0 || header->info >= header->slices ||
	    header->slices > max / MU_MI_SLICE)
		return "an impossible size";
	if (header->entries > header->slices ||
	    header->entries > MU_MI_SLICES || header->info >= header->entries ||
	    header->used > header->entries)
		return "an impossible number of pages";
	if (header->abandoned > header->used ||
	    (header->thread == 0 && header->abandoned != header->used))
		return "abandoned pages, but also others or a thread";
	return NULL;
}

/* A page, or free slices. */
static bool
is_page(const struct mu_mi_layout *layout, const char *slice)
{
	return mu_mi_is_narrow(layout)
	    ? mu_view_u32(slice + layout->block_size) != 0
	    : mu_view_word(slice + layout->block_size) != 0;
}

/*
 * A page without blocks is counted later than it has its slices, and no longer
 * before these are free: memory is committed or given back in between.
 */
static bool
is_empty(const char *slice)
{
	return mu_view_u32(slice + MU_MI_PAGE_WORD) >> 16 == 0;
}

/* Before 2.1.4 a block of MI_HUGE_BLOCK_SIZE or more has all of its page. */
static void
read_size(const struct mu_mi_layout *layout, const char *view,
    struct mu_range slices, struct mu_mi_page *page)
{
	page->size = mu_view_word(view + layout->block_size);
	page->used = mu_view_word(view + layout->used);
	if (!mu_mi_is_narrow(layout)) {
		page->used = (uint16_t)page->used;
		page->range.begin = mu_view_word(view + layout->page_start);
		return;
	}
	page->size = (uint32_t)page->size;
	page->used = (uint32_t)page->used;
	if (page->size == MU_MI_HUGE)
		page->size = mu_range_size(slices);
	page->range.begin =
	    slices.begin + mu_mi_start(layout->starts, page->size);
}

/* The page of the SLICES of a segment of THREAD; its header is at VIEW. */
static enum mu_status
add_page(struct mu_mi_walk *walk, const char *view, struct mu_range slices,
    uintptr_t thread)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	size_t reserved = mu_view_u16(view + MU_MI_PAGE_RESERVED);
	struct mu_mi_page page = {
		.capacity = mu_view_u16(view + MU_MI_PAGE_CAPACITY),
		.free = mu_view_word(view + MU_MI_PAGE_FREE),
		.local_free = mu_view_word(view + layout->local_free),
		.thread_free = mu_view_word(view + layout->thread_free) &
		    ~(uintptr_t)MU_MI_DELAYED,
		.heap = mu_view_word(view + layout->heap),
		.thread = thread,
	};

	read_size(layout, view, slices, &page);
	if (page.capacity > 0 && mu_range_has(slices, page.range.begin) &&
	    page.size > 0 &&
	    reserved != (slices.end - page.range.begin) / page.size)
		return wrong(walk, slices.begin, "a page of another size");
	return mu_mi_page_add(walk, &page, reserved, slices);
}

/*
 * The slices follow each other without a gap, the first are the header's. Those
 * of a huge page may be more than have entries.
 */
static enum mu_status
read_slices(struct mu_mi_walk *walk, uintptr_t segment, const char *view,
    const struct header *header)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	size_t i = header->info, count, pages = 0, empty = 0;
	enum mu_status status = MU_OK;
	const char *slice;

	if (mu_view_u32(view + layout->slices + MU_MI_PAGE_COUNT) !=
	    header->info)
		return wrong(walk, segment, "a header of another size");
	for (; status == MU_OK && i < header->entries; i += count) {
		slice = view + layout->slices + i * layout->page_size;
		count = mu_view_u32(slice + MU_MI_PAGE_COUNT);
		if (count == 0 || mu_view_u32(slice + MU_MI_PAGE_OFFSET) != 0 ||
		    count > header->slices - i)
			return wrong(walk, segment, "slices of no page");
		if (!is_page(layout, slice))
			continue;
		pages++;
		empty += is_empty(slice);
		status = add_page(walk, slice,
		    (struct mu_range) { segment + i * MU_MI_SLICE,
			segment + (i + count) * MU_MI_SLICE },
		    header->thread);
	}
	if (status != MU_OK)
		return status;
	if (header->used > pages || header->used < pages - empty ||
	    (pages != 1 && i != header->entries))
		return wrong(walk, segment, "another number of pages");
	return MU_OK;
}

static void
read_header(
    const struct mu_mi_layout *layout, const char *view, struct header *header)
{
	*header = (struct header) {
		.abandoned = mu_view_word(view + layout->segment_abandoned),
		.used = mu_view_word(view + layout->segment_used),
		.slices = mu_view_word(view + layout->segment_slices),
		.info = mu_view_word(view + layout->segment_info),
		.entries = mu_view_word(view + layout->segment_entries),
		.thread = mu_view_word(view + layout->segment_thread),
	};
}

/* Read a segment, and set *NEXT to where the next one can be. */
static enum mu_status
read_segment(struct mu_mi_walk *walk, uintptr_t segment, uintptr_t *next)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	size_t size = layout->slices + MU_MI_SLICES * layout->page_size;
	const char *view = mu_snapshot_view(walk->snap, segment, size), *rule;
	struct header header;
	struct mu_range range;

	*next = segment + MU_MI_SEGMENT;
	if (view == NULL)
		return wrong(walk, segment, "no whole header");
	read_header(layout, view, &header);
	rule = check_header(&header, mu_mi_mapped(walk->snap, segment));
	if (rule != NULL)
		return wrong(walk, segment, rule);
	range = (struct mu_range) { segment,
		segment + header.slices * MU_MI_SLICE };
	if (!mu_ranges_add(&walk->owned, range))
		return mu_heap_no_memory(walk->why);
	if (header.used == 0)
		return MU_OK;
	if (range.end > *next)
		*next = range.end;
	walk->overhead += header.info * MU_MI_SLICE;
	return read_slices(walk, segment, view, &header);
}

static bool
may_have(const struct mu_mapping *mapping)
{
	return mapping->readable && mapping->writable &&
	    mu_mapping_is_anonymous(mapping);
}

/* The segments that begin in RANGE, which has data, but not before *NEXT. */
static enum mu_status
read_part(struct mu_mi_walk *walk, struct mu_range range, uintptr_t *next)
{
	uintptr_t mask = MU_MI_SEGMENT - 1, at = range.begin;
	enum mu_status status = MU_OK;

	while (status == MU_OK) {
		if (at < *next)
			at = *next;
		if (at >= ~mask || ((at + mask) & ~mask) >= range.end)
			break;
		at = (at + mask) & ~mask;
		*next = at + MU_MI_SEGMENT;
		if (mu_mi_is_segment(walk->snap, &walk->mi, at))
			status = read_segment(walk, at, next);
	}
	return status;
}

/* A header is written: of memory that was never touched nothing is read. */
enum mu_status
mu_mi_segments_read(struct mu_mi_walk *walk)
{
	struct mu_memory *memory = (struct mu_memory *)&walk->snap->memory;
	const struct mu_mapping *mapping = walk->snap->mappings;
	const struct mu_mapping *end = mapping + walk->snap->num_mappings;
	enum mu_status status = MU_OK;
	struct mu_range rest, part;
	uintptr_t next = 0;

	for (; status == MU_OK && mapping < end; mapping++) {
		if (!may_have(mapping))
			continue;
		rest = mapping->range;
		for (; status == MU_OK && rest.begin < rest.end &&
		     memory->ops->populated(memory, rest, &part);
		     rest.begin = part.end)
			status = read_part(walk, part, &next);
	}
	if (status == MU_OK)
		mu_ranges_seal(&walk->owned);
	return status;
}

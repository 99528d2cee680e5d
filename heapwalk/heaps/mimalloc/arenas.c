/*
 * Arenas, of mimalloc 3: memory that begins with bitmaps, of which one, or
 * since 3.2 one of each heap, has a bit for each page: that of its first slice.
 * A page gets its bit before it is in the map and loses it afterwards.
 */
#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

/* Of 600 heaps in 100 GiB there are 15 million. */
#define BITMAP_WORDS ((size_t)1 << 26)

static enum mu_status
wrong(const struct mu_mi_walk *walk, uintptr_t arena, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "mimalloc's arena at %p has %s", (void *)arena, rule);
}

size_t
mu_mi_mapped(const struct mu_snapshot *snap, uintptr_t address)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	uintptr_t at = address;

	for (; mapping != NULL && mapping < end && mapping->range.begin <= at &&
	     mu_mapping_is_anonymous(mapping);
	     mapping++)
		at = mapping->range.end;
	return at - address;
}

/* Read the arena at ADDRESS, whose place in the list is INDEX. */
static enum mu_status
read_arena(struct mu_mi_walk *walk, uintptr_t address, size_t index)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	const struct mu_snapshot *snap = walk->snap;
	size_t slices = mu_word_at(snap, address + layout->arena_slices);
	size_t info = mu_word_at(
	    snap, address + layout->arena_slices + sizeof(uintptr_t));
	struct mu_mi_arena *arena = &walk->arenas[walk->num_arenas++];

	if (address % MU_MI_SLICE != 0 ||
	    mu_word_at(snap, address + MU_MI3_ARENA_SUBPROC) !=
		walk->mi.subproc ||
	    (layout->tld_backing == 0 &&
		mu_word_at(snap, address + MU_MI3_ARENA_INDEX) != index))
		return wrong(walk, address, "another place in its list");
	if (info == 0 || info >= slices || slices > MU_MI3_ARENA_MAX ||
	    slices * MU_MI_SLICE > mu_mi_mapped(snap, address))
		return wrong(walk, address,
		    "an impossible size, or memory of files or that others"
		    " share");
	*arena = (struct mu_mi_arena) {
		.range = { address, address + slices * MU_MI_SLICE },
		.index = index,
		.info = info * MU_MI_SLICE,
	};
	walk->overhead += arena->info;
	return mu_ranges_add(&walk->owned, arena->range)
	    ? MU_OK
	    : mu_heap_no_memory(walk->why);
}

enum mu_status
mu_mi_arenas_read(struct mu_mi_walk *walk)
{
	const struct mu_mi_layout *layout = walk->mi.layout;
	uintptr_t subproc = walk->mi.subproc, address;
	size_t count = mu_word_at(walk->snap, subproc + layout->subproc_count);
	enum mu_status status = MU_OK;
	size_t i;

	if (count > MU_MI3_ARENAS)
		return wrong(walk, subproc, "too many others beside it");
	walk->arenas =
	    mu_arena_alloc(walk->memory, count + 1, sizeof(*walk->arenas));
	if (walk->arenas == NULL)
		return mu_heap_no_memory(walk->why);
	for (i = 0; status == MU_OK && i < count; i++) {
		address = mu_word_at(walk->snap,
		    subproc + layout->subproc_arenas + i * sizeof(address));
		if (address != 0)
			status = read_arena(walk, address, i);
	}
	return status;
}

struct mu_mi_arena *
mu_mi_arena_at(const struct mu_mi_walk *walk, uintptr_t address)
{
	size_t i;

	for (i = 0; i < walk->num_arenas; i++)
		if (walk->arenas[i].range.begin == address)
			return &walk->arenas[i];
	return NULL;
}

/* Of HEAP, of which before 3.2 no arena knows; 0: it has no page there. */
static uintptr_t
bitmap_of(const struct mu_snapshot *snap, const struct mu_mimalloc *mi,
    const struct mu_mi_arena *arena, uintptr_t heap)
{
	uintptr_t pages;

	if (mi->layout->arena_pages != 0)
		return mu_word_at(
		    snap, arena->range.begin + mi->layout->arena_pages);
	pages = mu_word_at(snap,
	    heap + MU_MI3_HEAP_ARENA_PAGES + arena->index * sizeof(pages));
	return pages == 0 ? 0 : mu_word_at(snap, pages);
}

bool
mu_mi_arena_has(const struct mu_snapshot *snap, const struct mu_mimalloc *mi,
    const struct mu_mi_arena *arena, uintptr_t heap, size_t slice)
{
	uintptr_t bits;

	if (heap == 0)
		heap = mu_word_at(snap, mi->subproc + MU_MI3_SUBPROC_MAIN);
	bits = bitmap_of(snap, mi, arena, heap) + MU_MI3_BITMAP_CHUNKS;
	return (mu_word_at(snap, bits + slice / 64 * sizeof(bits)) >>
		       slice % 64 &
		   1) != 0;
}

/* Add the bits that HEAP has of each arena, in at most *LEFT words. */
static enum mu_status
count_bits(struct mu_mi_walk *walk, uintptr_t heap, size_t *left)
{
	struct mu_mi_arena *arena = walk->arenas;
	const struct mu_mi_arena *end = arena + walk->num_arenas;
	const char *view;
	uintptr_t bitmap;
	size_t words, i;

	for (; arena < end; arena++) {
		bitmap = bitmap_of(walk->snap, &walk->mi, arena, heap);
		if (bitmap == 0)
			continue;
		words = (mu_range_size(arena->range) / MU_MI_SLICE + 63) / 64;
		view = mu_snapshot_view(walk->snap,
		    bitmap + MU_MI3_BITMAP_CHUNKS, words * sizeof(bitmap));
		if (view == NULL || words > *left)
			return wrong(walk, arena->range.begin,
			    "a bitmap that cannot be read, or too many");
		*left -= words;
		for (i = 0; i < words; i++)
			arena->bits += mu_popcount(
			    mu_view_word(view + i * sizeof(bitmap)));
	}
	return MU_OK;
}

/* Since 3.2 the heaps of a process are a list. */
static enum mu_status
count_heaps(struct mu_mi_walk *walk)
{
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t subproc = walk->mi.subproc, heap;
	enum mu_status status = MU_OK;
	size_t i, left = BITMAP_WORDS;

	if (walk->mi.layout->tld_backing != 0)
		return count_bits(walk, 0, &left);
	heap = mu_word_at(snap, subproc + MU_MI3_SUBPROC_HEAPS);
	for (i = 0; status == MU_OK && heap != 0; i++) {
		if (i == MU_MI3_HEAPS || mu_word_at(snap, heap) != subproc)
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "mimalloc's heap at %p has another place in its"
			    " list",
			    (void *)heap);
		status = count_bits(walk, heap, &left);
		heap = mu_word_at(snap, heap + MU_MI3_HEAP_NEXT);
	}
	return status;
}

/*
 * Before 3.4 a page has its bit before its memory is committed: so may one of
 * each thread that can be inside mimalloc.
 */
static size_t
being_made(const struct mu_snapshot *snap)
{
	size_t count = 0, i;

	for (i = 0; i < snap->num_threads; i++)
		count += !snap->threads[i].calling;
	return count;
}

enum mu_status
mu_mi_arenas_check(struct mu_mi_walk *walk)
{
	size_t spare = being_made(walk->snap), i;
	enum mu_status status = count_heaps(walk);
	const struct mu_mi_arena *arena;

	for (i = 0; status == MU_OK && i < walk->num_arenas; i++) {
		arena = &walk->arenas[i];
		if (arena->bits < arena->pages ||
		    arena->bits - arena->pages > spare)
			return wrong(walk, arena->range.begin,
			    "another number of pages than heaps have there");
		spare -= arena->bits - arena->pages;
	}
	return status;
}

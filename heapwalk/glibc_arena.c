/*
 * The ring of arenas, and mp_: see heapwalk/glibc_arena.h.
 *
 * Runs in: original, sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_arena.h"

#include "heapwalk/classify.h"
#include "heapwalk/glibc_data.h"

#define ARENAS_MAX 65536        /* far above 8 for each CPU */
#define LARGE ((size_t)1 << 20) /* an allocator's first mapping has that */

static bool
is_own(const struct mu_snapshot *snap, struct mu_range range)
{
	size_t i;

	for (i = 0; i < snap->num_own; i++) {
		if (snap->own[i].begin < range.end &&
		    snap->own[i].end > range.begin)
			return true;
	}
	return false;
}

/*
 * Did nobody allocate at all? A main_arena that malloc never touched is also
 * what a program has that brings its own malloc; pthread_create() calls
 * calloc(), and every allocator has memory.
 */
static bool
can_be_without_heap(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mu_mapping_is_anonymous(mapping) && mapping->writable &&
		    !mu_mapping_is_named(mapping, "[stack") &&
		    mu_range_size(mapping->range) >= LARGE &&
		    !is_own(snap, mapping->range))
			return false;
	}
	return snap->num_threads <= 1;
}

static enum mu_status
nothing_found(const struct mu_glibc *glibc, const struct mu_glibc_finds *finds,
    const struct mu_snapshot *snap, struct mu_why *why)
{
	if (glibc->foreign != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "this process uses another allocator (%s): not checked",
		    glibc->foreign);
	if (finds->num_unused != 1)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "libc's data holds no main_arena of glibc %u.%u: not "
		    "checked",
		    snap->glibc_major, snap->glibc_minor);
	if (!can_be_without_heap(snap))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "glibc's malloc was never used, so this process has an "
		    "allocator of its own: not checked");
	return MU_OK;
}

/* heap_max_size(): from 2.35 to 2.41 it followed the size of huge pages. */
static enum mu_status
find_heap_max(
    struct mu_glibc *glibc, const struct mu_snapshot *snap, struct mu_why *why)
{
	uintptr_t huge = 0;

	glibc->heap_max = MU_GLIBC_HEAP_MAX;
	if (glibc->layout->par_hp_pagesize != 0)
		mu_snapshot_word(
		    snap, glibc->mp + glibc->layout->par_hp_pagesize, &huge);
	if (huge == 0)
		return MU_OK;
	if ((huge & (huge - 1)) != 0 || huge > SIZE_MAX / 4)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "mp_ %p: hp_pagesize %zx is no power of two",
		    (void *)glibc->mp, (size_t)huge);
	glibc->heap_max = huge * 4;
	return MU_OK;
}

/* A non-main arena lies behind the header of its first heap. */
static enum mu_status
check_arena(const struct mu_glibc *glibc, const struct mu_snapshot *snap,
    uintptr_t arena, struct mu_why *why)
{
	uintptr_t heap = arena & ~(glibc->heap_max - 1), owner;
	const char *view =
	    mu_snapshot_view(snap, arena, glibc->layout->arena_size);

	if (view == NULL || arena % 16 != 0)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "ring of arenas: %p cannot be an arena", (void *)arena);
	if (arena != heap + glibc->layout->heap_header ||
	    !mu_snapshot_word(snap, heap, &owner) || owner != arena)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "ring of arenas: heap %p does not name arena %p as its own",
		    (void *)heap, (void *)arena);
	return MU_OK;
}

static enum mu_status
follow_ring(struct mu_glibc *glibc, const struct mu_snapshot *snap,
    struct mu_arena *memory, struct mu_why *why)
{
	uintptr_t arena = glibc->main_arena, *grown;
	size_t max = 0, count = 0;
	enum mu_status status;

	do {
		if (count == ARENAS_MAX)
			return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
			    "ring of arenas: does not lead back to %p",
			    (void *)glibc->main_arena);
		if (count == max) {
			grown = mu_arena_grow(memory, glibc->arenas, max,
			    max + 64, sizeof(*grown));
			if (grown == NULL)
				return mu_why(why, MU_ERR_NO_MEMORY,
				    "no memory for the list of arenas");
			glibc->arenas = grown;
			max += 64;
		}
		if (count > 0) {
			status = check_arena(glibc, snap, arena, why);
			if (status != MU_OK)
				return status;
		}
		glibc->arenas[count++] = arena;
		if (!mu_snapshot_word(
			snap, arena + glibc->layout->arena_next, &arena))
			arena = 0;
	} while (arena != glibc->main_arena);
	glibc->num_arenas = count;
	return MU_OK;
}

enum mu_status
mu_glibc_find(struct mu_glibc *out, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_glibc_finds finds;
	enum mu_status status;

	*out = (struct mu_glibc) {
		.layout =
		    mu_glibc_layout_find(snap->glibc_major, snap->glibc_minor),
		.foreign = mu_glibc_data_foreign(snap),
	};
	if (out->layout == NULL)
		return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
		    "the heap of glibc %u.%u is not known here: not checked",
		    snap->glibc_major, snap->glibc_minor);
	mu_glibc_data_search(&finds, snap, out->layout);
	if (finds.num_arenas == 0)
		return nothing_found(out, &finds, snap, why);
	if (finds.num_arenas > 1 || finds.num_pars != 1)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "libc's data has %zu places like main_arena and %zu like "
		    "mp_ of glibc %u.%u",
		    finds.num_arenas, finds.num_pars, snap->glibc_major,
		    snap->glibc_minor);
	out->main_arena = finds.arena;
	out->mp = finds.par;
	status = find_heap_max(out, snap, why);
	if (status == MU_OK)
		status = follow_ring(out, snap, arena, why);
	return status;
}

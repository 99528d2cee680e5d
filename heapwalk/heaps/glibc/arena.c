/*
 * Runs in: original, sweeper (any).
 */
#include "heapwalk/heaps/glibc/arena.h"

#include "heapwalk/heaps/glibc/data.h"
#include "heapwalk/heaps/glibc/foreign.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/dynamic_symbols.h"

#define ARENAS_MAX 65536        /* far above 8 for each CPU */
#define LARGE ((size_t)1 << 20) /* an allocator's first mapping has that */
#define MUTEX_MAX 2             /* locked, with waiters */

/*
 * True if malloc may never have been called. main_arena is also untouched in a
 * program with its own malloc; but pthread_create() calls calloc(), and every
 * allocator has memory.
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
		    !mu_snapshot_is_own(snap, mapping->range))
			return false;
	}
	return snap->num_threads <= 1;
}

/* FINDS is NULL if there is an initialised main_arena that was never used. */
static enum mu_status
nothing_found(const struct mu_glibc_finds *finds,
    const struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_why *why)
{
	enum mu_status status = mu_glibc_foreign_refuse(snap, member, why);

	if (status != MU_OK)
		return status;
	if (finds != NULL && finds->num_unused != 1)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "libc's data holds no main_arena of glibc %u.%u",
		    snap->glibc_major, snap->glibc_minor);
	/* malloc is glibc's and was never called. */
	if (snap->malloc_address == 0 && !can_be_without_heap(snap) &&
	    mu_malloc_has_other(snap))
		return mu_glibc_foreign_name(snap, member, why);
	return MU_OK;
}

/* heap_max_size(): from 2.35 to 2.41 it depended on the size of huge pages. */
static enum mu_status
find_heap_max(
    struct mu_glibc *glibc, const struct mu_snapshot *snap, struct mu_why *why)
{
	uintptr_t huge = 0;

	glibc->heap_max = MU_GLIBC_HEAP_MAX;
	if (glibc->layout->heap_max_huge)
		mu_snapshot_word(
		    snap, glibc->mp + glibc->layout->par_hp_pagesize, &huge);
	if (huge == 0)
		return MU_OK;
	if ((huge & (huge - 1)) != 0 || huge > SIZE_MAX / 4)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "mp_ %p: hp_pagesize %zx is not a power of two",
		    (void *)glibc->mp, (size_t)huge);
	glibc->heap_max = huge * 4;
	return MU_OK;
}

/* A non-main arena lies right after the header of its first heap. */
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
	uintptr_t arena = glibc->main_arena;
	size_t max = 0, count = 0;
	enum mu_status status;

	do {
		if (count == ARENAS_MAX)
			return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
			    "ring of arenas: does not lead back to %p",
			    (void *)glibc->main_arena);
		if (!mu_arena_room(memory, glibc->arenas, count, max, 64))
			return mu_why(why, MU_ERR_NO_MEMORY,
			    "no memory for the list of arenas");
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

/*
 * From 2.42 on __libc_early_init() initialises main_arena, also in a program
 * that never calls glibc's malloc.
 */
static bool
is_never_used(const struct mu_glibc *glibc, const struct mu_snapshot *snap)
{
	const struct mu_glibc_layout *layout = glibc->layout;
	uintptr_t arena = glibc->main_arena, top, system_mem, mmapped;

	return glibc->num_arenas == 1 &&
	    mu_snapshot_word(snap, arena + layout->arena_top, &top) &&
	    top == arena + layout->arena_bins - MU_GLIBC_HEADER &&
	    mu_snapshot_word(
		snap, arena + layout->arena_system_mem, &system_mem) &&
	    system_mem == 0 &&
	    mu_snapshot_word(
		snap, glibc->mp + layout->par_mmapped_mem + 8, &mmapped) &&
	    mmapped == 0; /* max_mmapped_mem */
}

/*
 * The freeze is going to write to the first member of malloc_state, which
 * should be the mutex. That the ring leads back to it shows where the struct
 * begins.
 */
static enum mu_status
check_inferred(const struct mu_glibc *glibc, const struct mu_snapshot *snap,
    struct mu_why *why)
{
	const int *mutex;
	size_t i;

	if (glibc->main_arena == 0 || is_never_used(glibc, snap))
		return snap->glibc_inferred
		    ? MU_OK
		    : mu_why(why, MU_ERR_HEAP_INCONSISTENT,
			  "nothing was allocated that would show it");
	for (i = 0; i < glibc->num_arenas; i++) {
		mutex =
		    mu_snapshot_view(snap, glibc->arenas[i], sizeof(*mutex));
		if (mutex == NULL || *mutex < 0 || *mutex > MUTEX_MAX)
			return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
			    "arena %p: does not begin with a mutex",
			    (void *)glibc->arenas[i]);
	}
	return MU_OK;
}

static enum mu_status
find(struct mu_glibc *out, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_glibc_finds finds;
	enum mu_status status;

	mu_glibc_data_search(&finds, snap, out->layout);
	out->other_libc = finds.other;
	if (finds.num_arenas == 0 && snap->glibc_inferred &&
	    finds.num_pars != 1)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "no main_arena with an mp_ beside it");
	if (finds.num_arenas == 0)
		return nothing_found(&finds, member, snap, why);
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
	if (status == MU_OK && is_never_used(out, snap))
		return nothing_found(NULL, member, snap, why);
	return status;
}

enum mu_status
mu_glibc_not_inferred(const struct mu_glibc *glibc,
    const struct mu_snapshot *snap, enum mu_status status, struct mu_why *why)
{
	struct mu_why rule = *why;

	if (glibc->inferred_from == 0 || status == MU_ERR_NO_MEMORY)
		return status;
	/* A ring of arenas is found: it is the malloc of a glibc. */
	if (snap->glibc_inferred && status == MU_ERR_HEAP_INCONSISTENT &&
	    glibc->num_arenas > 0)
		return status;
	return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
	    "the heap of glibc %u.%u is not known here, and not laid out as "
	    "that of 2.%u: %s",
	    snap->glibc_major, snap->glibc_minor, glibc->inferred_from,
	    rule.text);
}

enum mu_status
mu_glibc_find(struct mu_glibc *out, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	unsigned major = snap->glibc_major, minor = snap->glibc_minor;
	enum mu_status status;

	*out = (struct mu_glibc) {
		.layout = mu_glibc_layout_find(major, minor),
	};
	if (out->layout != NULL && snap->glibc_inferred)
		out->inferred_from = minor;
	if (out->layout == NULL)
		out->layout =
		    mu_glibc_layout_nearest(major, minor, &out->inferred_from);
	if (out->layout == NULL) {
		status = mu_glibc_foreign_refuse(snap, member, why);
		return status != MU_OK
		    ? status
		    : mu_why(why, MU_ERR_UNKNOWN_GLIBC,
			  "the heap of glibc %u.%u is not known here: not "
			  "checked",
			  major, minor);
	}
	status = find(out, member, snap, arena, why);
	if (status == MU_OK && out->inferred_from != 0)
		status = check_inferred(out, snap, why);
	if (status == MU_OK ||
	    (status == MU_ERR_FOREIGN_ALLOCATOR &&
		mu_glibc_foreign_refuse(snap, member, NULL) != MU_OK))
		return status;
	return mu_glibc_not_inferred(out, snap, status, why);
}

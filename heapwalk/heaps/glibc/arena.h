/*
 * glibc's malloc without symbols: where its arenas and its counters are.
 *
 * Runs in: original (the freeze), sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_ARENA_H
#define HEAPWALK_HEAPS_GLIBC_ARENA_H

#include "heapwalk/heaps/glibc/layout.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

struct mu_glibc {
	const struct mu_glibc_layout *layout;
	/*
	 * The release is not known, and the layout is that of this one (2.x).
	 * Right only if everything holds that can be checked; 0: it is known.
	 */
	unsigned inferred_from;
	uintptr_t main_arena; /* 0: malloc was never called */
	uintptr_t mp;         /* struct malloc_par */
	uintptr_t *arenas;    /* the ring, the main one first */
	size_t num_arenas;
	size_t heap_max; /* heaps of other arenas lie at its multiples */

	/* Where fd or bk of a free chunk can point that is the end of a list;
	 * set once the heap is read. */
	const struct mu_range *bins;
	size_t num_bins;

	/* Arenas whose mutex we hold: heapwalk/heaps/glibc/freeze.c. */
	uintptr_t *locked;
	size_t num_locked, max_locked;

	/* Address of a second libc with a separate heap, or 0. */
	uintptr_t other_libc;
};

/* Is there an arena at ADDRESS, of those in the ring? */
static inline bool
mu_glibc_has_arena(const struct mu_glibc *glibc, uintptr_t address)
{
	size_t i;

	for (i = 0; i < glibc->num_arenas; i++)
		if (glibc->arenas[i] == address)
			return true;
	return false;
}

/*
 * Find the arenas of the libc that holds snap->libc_address, or of the one
 * that is called so, of the release that SNAP names. Everything is checked
 * that stays true while other threads are in malloc. Needs of SNAP: mappings,
 * memory, release.
 *
 * MU_ERR_UNKNOWN_GLIBC: no such release in the table, and the layout of its
 * neighbour does not fit. MU_ERR_FOREIGN_ALLOCATOR: nothing there looks like
 * glibc's malloc in use. MU_ERR_HEAP_INCONSISTENT: it does, yet a rule is
 * broken.
 */
enum mu_status mu_glibc_find(struct mu_glibc *out,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

/*
 * What WHY says went wrong did so with an inferred layout: say that. Returns
 * MU_ERR_UNKNOWN_GLIBC, or STATUS if it has nothing to do with the layout.
 */
enum mu_status mu_glibc_not_inferred(const struct mu_glibc *glibc,
    const struct mu_snapshot *snap, enum mu_status status, struct mu_why *why);

#endif

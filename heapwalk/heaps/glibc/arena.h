/*
 * Find the arenas and counters of glibc's malloc without symbols.
 *
 * Runs in: original (the freeze), sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_ARENA_H
#define HEAPWALK_HEAPS_GLIBC_ARENA_H

#include "heapwalk/heaps/glibc/layout.h"
#include "heapwalk/heaps/heap.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

struct mu_glibc {
	const struct mu_glibc_layout *layout;
	/*
	 * If the release is not known: the release (2.x) whose layout is used.
	 * It is right only if everything that can be checked holds. 0 if the
	 * release is known.
	 */
	unsigned inferred_from;
	uintptr_t main_arena; /* 0 if malloc was never called */
	uintptr_t mp;         /* struct malloc_par */
	uintptr_t *arenas;    /* the ring, main_arena first */
	size_t num_arenas;
	size_t heap_max; /* other arenas' heaps lie at multiples of this */

	/*
	 * Addresses to which fd or bk of a free chunk can point as the end of a
	 * list; set once the heap is read.
	 */
	const struct mu_range *bins;
	size_t num_bins;

	/* Arenas whose mutex we hold: heapwalk/heaps/glibc/freeze.c. */
	uintptr_t *locked;
	size_t num_locked, max_locked;

	/* Address of a second libc with a separate heap, or 0. */
	uintptr_t other_libc;
};

/* True if an arena of the ring is at ADDRESS. */
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
 * Find the arenas of the libc that holds snap->libc_address, or else of the
 * module named like libc, with the layout of the release that SNAP names.
 * Checks everything that stays true while other threads are in malloc. Needs of
 * SNAP: mappings, memory, release.
 *
 * MU_ERR_UNKNOWN_GLIBC: the release is not in the table, and its neighbour's
 * layout does not fit. MU_ERR_FOREIGN_ALLOCATOR: nothing looks like glibc's
 * malloc in use. MU_ERR_HEAP_INCONSISTENT: it does, but a rule is broken.
 */
enum mu_status mu_glibc_find(struct mu_glibc *out,
    const struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why);

/*
 * If the layout was inferred, add to WHY that this may be the cause, and return
 * MU_ERR_UNKNOWN_GLIBC. Otherwise, or if the failure has nothing to do with the
 * layout, return STATUS; so for a guess (snap->glibc_inferred) that has found
 * malloc's variables.
 */
enum mu_status mu_glibc_not_inferred(const struct mu_glibc *glibc,
    const struct mu_snapshot *snap, enum mu_status status, struct mu_why *why);

#endif

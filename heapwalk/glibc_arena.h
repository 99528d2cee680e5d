/*
 * glibc's malloc without symbols: where its arenas and its counters are.
 *
 * Runs in: original (the freeze), sweeper (any). Uses no malloc, no errno, no
 * libc lock.
 */
#ifndef HEAPWALK_GLIBC_ARENA_H
#define HEAPWALK_GLIBC_ARENA_H

#include "heapwalk/glibc_layout.h"
#include "heapwalk/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

struct mu_glibc {
	const struct mu_glibc_layout *layout;
	uintptr_t main_arena; /* 0: malloc was never called */
	uintptr_t mp;         /* struct malloc_par */
	uintptr_t *arenas;    /* the ring, the main one first */
	size_t num_arenas;
	size_t heap_max; /* heaps of other arenas lie at its multiples */

	/* File of another allocator that is in the process too, or NULL. */
	const char *foreign;
};

/*
 * Find the arenas of the libc that holds snap->libc_address, or of the one
 * that is called so, of the release that SNAP names. Everything is checked
 * that stays true while other threads are in malloc. Needs of SNAP: mappings,
 * memory, release.
 *
 * MU_ERR_UNKNOWN_GLIBC: no such release in the table. MU_ERR_FOREIGN_ALLOCATOR:
 * nothing there looks like glibc's malloc in use. MU_ERR_HEAP_INCONSISTENT: it
 * does, yet a rule is broken.
 */
enum mu_status mu_glibc_find(struct mu_glibc *out,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

#endif

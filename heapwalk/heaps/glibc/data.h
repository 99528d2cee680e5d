/*
 * Find malloc's variables in the writable data of libc, or of a program that is
 * linked with it statically.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_DATA_H
#define HEAPWALK_HEAPS_GLIBC_DATA_H

#include "heapwalk/heaps/glibc/layout.h"
#include "heapwalk/subject/snapshot.h"

#define MU_GLIBC_MAX_PARS 16

/*
 * What was recognised by its contents, with the number of matches; only a
 * single match is an answer.
 */
struct mu_glibc_finds {
	size_t num_arenas, num_unused, num_pars;
	uintptr_t arena; /* a main_arena in use */
	size_t num_likenesses;
	uintptr_t likeness; /* the same, but its ring is broken */
	uintptr_t unused;   /* a main_arena that malloc never touched */
	uintptr_t par;

	/* Everything that looks like mp_; the one next to the arena is used. */
	uintptr_t pars[MU_GLIBC_MAX_PARS];

	/* Address of a second libc with a separate heap, or 0. */
	uintptr_t other;
};

/*
 * Search the writable data of libc, or of a static program, in SNAP for what
 * LAYOUT describes. FINDS is zero before.
 */
void mu_glibc_data_search(struct mu_glibc_finds *finds,
    const struct mu_snapshot *snap, const struct mu_glibc_layout *layout);

/*
 * True if the file of MAPPING, not libc's own, has a glibc malloc that has no
 * memory.
 */
bool mu_glibc_data_is_unused(
    const struct mu_snapshot *snap, const struct mu_mapping *mapping);

#endif

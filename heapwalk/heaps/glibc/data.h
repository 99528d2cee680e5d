/*
 * The writable data of libc, or of a program that is linked with it statically,
 * and malloc's variables in it.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_DATA_H
#define HEAPWALK_HEAPS_GLIBC_DATA_H

#include "heapwalk/heaps/glibc/layout.h"
#include "heapwalk/subject/snapshot.h"

#define MU_GLIBC_MAX_PARS 16

/* What was found by its looks; a count of 1 is an answer. */
struct mu_glibc_finds {
	size_t num_arenas, num_unused, num_pars;
	uintptr_t arena; /* a main_arena in use */
	size_t num_likenesses;
	uintptr_t likeness; /* the same, but its ring is broken */
	uintptr_t unused;   /* a main_arena that malloc never touched */
	uintptr_t par;

	/* All that look like mp_; the one beside the arena is taken. */
	uintptr_t pars[MU_GLIBC_MAX_PARS];

	/* Address of a second libc with a separate heap, or 0. */
	uintptr_t other;
};

void mu_glibc_data_search(struct mu_glibc_finds *finds,
    const struct mu_snapshot *snap, const struct mu_glibc_layout *layout);

/*
 * Does the file of MAPPING, another one than libc's, have a malloc of glibc's
 * make that has no memory?
 */
bool mu_glibc_data_is_unused(
    const struct mu_snapshot *snap, const struct mu_mapping *mapping);

#endif

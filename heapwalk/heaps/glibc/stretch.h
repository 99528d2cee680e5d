/* Find all ranges of memory in which an arena keeps its chunks. */
#ifndef HEAPWALK_HEAPS_GLIBC_STRETCH_H
#define HEAPWALK_HEAPS_GLIBC_STRETCH_H

#include "heapwalk/heaps/glibc/chunks.h"

/* Find, sum up and walk the heaps of all arenas but the main one. */
enum mu_status mu_glibc_heaps_take(struct mu_glibc_walk *walk);

/*
 * Find and walk the memory of the main arena: from brk, and from mmap if brk
 * failed. Call after the other arenas: walk->stretches is sealed.
 */
enum mu_status mu_glibc_main_take(struct mu_glibc_walk *walk);

/* The main arena, and the progress of its walk. */
struct mu_glibc_main {
	uintptr_t arena, top;
	size_t system_mem;
	bool contiguous;
	bool saw_top;
	bool strict; /* system_mem must match exactly */

	struct mu_range region; /* the region that begins at sbrk_base */
	bool brk;               /* it comes from brk, not from mmap */

	/* The parts of system_mem: */
	size_t bytes; /* of all pieces */
	size_t num_pieces;
	size_t maybe; /* of unproven parts, which gaps include */
	size_t *gaps; /* bytes between pieces, by address */
	size_t num_gaps, max_gaps;
};

/*
 * True if system_mem is the bytes of the pieces plus MORE. While the arena was
 * contiguous it also counted what a foreign sbrk() took.
 */
bool mu_glibc_main_adds_up(const struct mu_glibc_main *main, size_t more);

/* Find pieces in anonymous memory (brk failed), for the rest of system_mem. */
enum mu_status mu_glibc_pieces_take(
    struct mu_glibc_walk *walk, struct mu_glibc_main *main);

/*
 * Find the next piece after END in main->region. CHAIN is set up to walk it;
 * chain->limit is empty if there is none. Memory that only may be malloc's goes
 * to walk->unproven.
 */
enum mu_status mu_glibc_foreign_sbrk_cross(struct mu_glibc_walk *walk,
    struct mu_glibc_main *main, uintptr_t end, struct mu_glibc_chain *chain);

#endif

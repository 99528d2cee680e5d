/* All ranges of memory in which an arena keeps its chunks. */
#ifndef HEAPWALK_HEAPS_GLIBC_STRETCH_H
#define HEAPWALK_HEAPS_GLIBC_STRETCH_H

#include "heapwalk/heaps/glibc/chunks.h"

/* The heaps of all arenas but the main one: found, summed up, walked. */
enum mu_status mu_glibc_heaps_take(struct mu_glibc_walk *walk);

/*
 * The main arena: what it got by brk, and what it got by mmap when brk
 * failed. After all the other arenas: walk->stretches is sealed.
 */
enum mu_status mu_glibc_main_take(struct mu_glibc_walk *walk);

/* The main arena, and how far the walk has come. */
struct mu_glibc_main {
	uintptr_t arena, top;
	size_t system_mem;
	bool contiguous;
	bool saw_top;
	bool strict; /* system_mem is met to the byte */

	struct mu_range region; /* that begins at sbrk_base */
	bool brk;               /* brk gave it, and not mmap */

	/* What system_mem has to add up to. */
	size_t bytes; /* of the pieces */
	size_t num_pieces;
	size_t maybe; /* of unproven parts, which gaps have too */
	size_t *gaps; /* between pieces, by address; bytes */
	size_t num_gaps, max_gaps;
};

/*
 * Is system_mem what the pieces, and MORE bytes, add up to? As long as the
 * arena was contiguous it also counted what a foreign sbrk() took.
 */
bool mu_glibc_main_adds_up(const struct mu_glibc_main *main, size_t more);

/*
 * Pieces of anonymous memory (brk failed), for what system_mem has more.
 */
enum mu_status mu_glibc_pieces_take(
    struct mu_glibc_walk *walk, struct mu_glibc_main *main);

/*
 * Where does the next piece behind END, in main->region, begin? CHAIN is set
 * up to walk it; chain->limit is empty if there is none. What cannot be told
 * from an imitation goes to walk->unproven.
 */
enum mu_status mu_glibc_hole_cross(struct mu_glibc_walk *walk,
    struct mu_glibc_main *main, uintptr_t end, struct mu_glibc_chain *chain);

#endif

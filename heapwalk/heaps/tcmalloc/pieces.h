/*
 * PageHeapAllocator, which cuts structures of one size from pieces of 128 KiB
 * and counts them. Those that are no longer used are a list.
 *
 * Runs in: sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_TCMALLOC_PIECES_H
#define HEAPWALK_HEAPS_TCMALLOC_PIECES_H

#include "heapwalk/heaps/tcmalloc/heap.h"

struct mu_tc_pieces {
	uintptr_t at; /* its address */
	size_t used;  /* inuse_ */
	uintptr_t unused;
};

/*
 * Find that of structures of SIZE bytes among the variables, of which USED are
 * in use, or any number: SIZE_MAX. False if there is not one.
 */
bool mu_tc_pieces_find(struct mu_tc_pieces *pieces,
    const struct mu_tc_walk *walk, size_t size, size_t used);

#endif

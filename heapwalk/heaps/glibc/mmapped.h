/* Find mmapped chunks. */
#ifndef HEAPWALK_HEAPS_GLIBC_MMAPPED_H
#define HEAPWALK_HEAPS_GLIBC_MMAPPED_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Find every mmapped chunk. Only mp_'s counters prove that a candidate is one;
 * if they disagree, candidates that they do not decide on are kept, and
 * MU_PARTIAL says so. Call after the stretches, which are sealed, and before
 * the tcaches.
 */
enum mu_status mu_glibc_mmapped_find(struct mu_glibc_walk *walk);

/* The chunk whose block is at ADDRESS, or NULL. */
struct mu_glibc_mmapped *mu_glibc_mmapped_at(
    const struct mu_glibc_walk *walk, uintptr_t block);

/*
 * List as blocks those that are not in a tcache. OWNED gets the mappings of the
 * proven ones.
 */
enum mu_status mu_glibc_mmapped_list(
    struct mu_glibc_walk *walk, struct mu_ranges *owned);

#endif

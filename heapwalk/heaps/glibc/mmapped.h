/* Mmapped chunks. */
#ifndef HEAPWALK_HEAPS_GLIBC_MMAPPED_H
#define HEAPWALK_HEAPS_GLIBC_MMAPPED_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Find every mmapped chunk. Nothing but mp_'s counters says that one is one,
 * so if they disagree, those that they do not single out are to be kept, and
 * MU_PARTIAL says so. After the stretches, which are sealed, and before the
 * tcaches.
 */
enum mu_status mu_glibc_mmapped_find(struct mu_glibc_walk *walk);

/* The one whose block is at ADDRESS, or NULL. */
struct mu_glibc_mmapped *mu_glibc_mmapped_at(
    const struct mu_glibc_walk *walk, uintptr_t block);

/*
 * List as blocks those that no tcache has. OWNED gets the mappings of those
 * that are proven.
 */
enum mu_status mu_glibc_mmapped_list(
    struct mu_glibc_walk *walk, struct mu_ranges *owned);

#endif

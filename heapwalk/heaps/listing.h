/*
 * The end of mu_heap_ops.list() of back ends that need nothing but blocks and
 * the ranges of their own data.
 */
#ifndef HEAPWALK_HEAPS_LISTING_H
#define HEAPWALK_HEAPS_LISTING_H

#include "heapwalk/heaps/heap.h"

/* MU_ERR_NO_MEMORY, with its reason in WHY. */
enum mu_status mu_heap_no_memory(struct mu_why *why);

/*
 * Seal the blocks of HEAP, and its own memory, of which OWNED (NULL: nothing)
 * is a part. MU_ERR_HEAP_INCONSISTENT if two blocks overlap, or
 * MU_ERR_NO_MEMORY. NAME is the allocator's.
 */
enum mu_status mu_heap_seal(struct mu_heap *heap, const char *name,
    const struct mu_ranges *owned, struct mu_why *why);

#endif

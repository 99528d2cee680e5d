/* Read the arenas' free lists: bins and fastbins. */
#ifndef HEAPWALK_HEAPS_GLIBC_FREE_H
#define HEAPWALK_HEAPS_GLIBC_FREE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Check the bins of arena INDEX: links are mutual, each member is a free chunk
 * that the walk saw, and the number agrees. The mark bits are clear afterwards.
 */
enum mu_status mu_glibc_bins_check(struct mu_glibc_walk *walk, size_t index);

/* Remove the members of the fastbins of arena INDEX from the live blocks. */
enum mu_status mu_glibc_fastbins_take(struct mu_glibc_walk *walk, size_t index);

/*
 * Remove the chunk whose block is at ADDRESS from the live blocks and set SIZE.
 * Returns NULL, or the rule that the chunk breaks.
 */
const char *mu_glibc_free_take(
    struct mu_glibc_walk *walk, uintptr_t address, size_t *size);

/*
 * The lowest chunk in RANGE that is in a bin or a fastbin of the main arena and
 * follows a chunk in use; 0 if none. For use before anything was checked.
 */
uintptr_t mu_glibc_free_lowest(
    const struct mu_glibc_walk *walk, struct mu_range range);

/* Decode LINK, the word found at ADDRESS (safe-linking). */
uintptr_t mu_glibc_link(
    const struct mu_glibc_walk *walk, uintptr_t address, uintptr_t link);

#endif

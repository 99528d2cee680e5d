/*
 * What the arenas' free lists hold: bins and fastbins.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_FREE_H
#define HEAPWALK_HEAPS_GLIBC_FREE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Check the bins of arena INDEX: links mutual, each member a free chunk that
 * the walk saw, no more and no fewer than it saw. The mark bits are clear
 * afterwards.
 */
enum mu_status mu_glibc_bins_check(struct mu_glibc_walk *walk, size_t index);

/* Take the members of the fastbins of arena INDEX out of the live blocks. */
enum mu_status mu_glibc_fastbins_take(struct mu_glibc_walk *walk, size_t index);

/*
 * Take the chunk whose block is at ADDRESS out of the live blocks. NULL, or
 * the rule that it breaks; SIZE is set.
 */
const char *mu_glibc_free_take(
    struct mu_glibc_walk *walk, uintptr_t address, size_t *size);

/*
 * The lowest chunk in RANGE that is in a bin or a fastbin of the main arena,
 * with a chunk in use before it; 0 if none. Before anything was checked.
 */
uintptr_t mu_glibc_free_lowest(
    const struct mu_glibc_walk *walk, struct mu_range range);

/* The link at ADDRESS, its own mangling undone; LINK is what is there. */
uintptr_t mu_glibc_link(
    const struct mu_glibc_walk *walk, uintptr_t address, uintptr_t link);

#endif

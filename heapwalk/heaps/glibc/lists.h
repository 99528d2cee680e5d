/* Check and take long lists of free chunks at the speed of memory. */
#ifndef HEAPWALK_HEAPS_GLIBC_LISTS_H
#define HEAPWALK_HEAPS_GLIBC_LISTS_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Check the bins and remove the members of fastbins from the live blocks. The
 * result is exactly that of mu_glibc_bins_check() and mu_glibc_fastbins_take()
 * for each arena.
 */
enum mu_status mu_glibc_lists_take(struct mu_glibc_walk *walk);

#endif

/* Long lists of free chunks, checked at the speed of memory. */
#ifndef HEAPWALK_HEAPS_GLIBC_LISTS_H
#define HEAPWALK_HEAPS_GLIBC_LISTS_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Check the bins and take what is in fastbins out of the live blocks: for each
 * arena mu_glibc_bins_check(), then mu_glibc_fastbins_take(), to the letter.
 */
enum mu_status mu_glibc_lists_take(struct mu_glibc_walk *walk);

#endif

/* Detect heaps of malloc that no listed arena leads to. */
#ifndef HEAPWALK_HEAPS_GLIBC_STRAYS_H
#define HEAPWALK_HEAPS_GLIBC_STRAYS_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * MU_ERR_HEAP_INCONSISTENT if there is one: the ring omits its arena, or the
 * arena's chain omits the heap. Call after the stretches, which are sealed.
 */
enum mu_status mu_glibc_strays_check(const struct mu_glibc_walk *walk);

#endif

/* glibc's malloc: a row of the table of heaps. */
#ifndef HEAPWALK_HEAPS_GLIBC_GLIBC_H
#define HEAPWALK_HEAPS_GLIBC_GLIBC_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_glibc;

#endif

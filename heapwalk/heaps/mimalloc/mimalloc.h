/* mimalloc 2.0.9 to 2.4.1 and 3.0.3 to 3.4.3: see heap.h. */
#ifndef HEAPWALK_HEAPS_MIMALLOC_MIMALLOC_H
#define HEAPWALK_HEAPS_MIMALLOC_MIMALLOC_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_mimalloc;

#endif

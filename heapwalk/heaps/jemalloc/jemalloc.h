/* jemalloc 5.2.1 and 5.3, of another process or a core: see heap.h. */
#ifndef HEAPWALK_HEAPS_JEMALLOC_JEMALLOC_H
#define HEAPWALK_HEAPS_JEMALLOC_JEMALLOC_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_jemalloc;

#endif

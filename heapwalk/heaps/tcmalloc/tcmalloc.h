/* gperftools' tcmalloc 2.9 to 2.18: see heap.h. */
#ifndef HEAPWALK_HEAPS_TCMALLOC_TCMALLOC_H
#define HEAPWALK_HEAPS_TCMALLOC_TCMALLOC_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_tcmalloc;

#endif

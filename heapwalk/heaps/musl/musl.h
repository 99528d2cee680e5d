/* mallocng, the malloc of musl since 1.2.1: see heap.h. */
#ifndef HEAPWALK_HEAPS_MUSL_MUSL_H
#define HEAPWALK_HEAPS_MUSL_MUSL_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_musl;

/* True for libc.so, or the dynamic linker, which it is, too. */
bool mu_musl_is_named(const struct mu_mapping *mapping);

/*
 * True if the C library of SNAP, which is not known to be glibc, is musl and
 * its heap is found.
 */
bool mu_musl_is_used(const struct mu_snapshot *snap);

#endif

/*
 * The use of a glibc heap (heapwalk/heaps/usage.h), summed up between the steps
 * of the walk from their own data: the heap is not read again.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_USAGE_H
#define HEAPWALK_HEAPS_GLIBC_USAGE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * After the stretches, when spans know what was in use and what was free, each
 * by the flag of the next chunk. Chunks in fastbins and tcaches are in use so
 * far.
 */
enum mu_status mu_glibc_usage_open(struct mu_glibc_walk *walk);

/* What was taken out of the live blocks since then: was in fastbins. */
void mu_glibc_usage_fastbins(struct mu_glibc_walk *walk);

/* Since then: was in tcaches, but for their structs ... */
void mu_glibc_usage_tcaches(struct mu_glibc_walk *walk);

/* ... one of which is the chunk of SIZE whose block is at ADDRESS. */
void mu_glibc_usage_struct(
    struct mu_glibc_walk *walk, uintptr_t address, size_t size);

/* A mmapped chunk: WHOLE bytes of pages, USABLE ones of its block. */
void mu_glibc_usage_mmapped(struct mu_glibc_walk *walk,
    const struct mu_glibc_mmapped *one, size_t whole, size_t usable);

/* After the blocks were sealed: the sums. */
void mu_glibc_usage_close(struct mu_glibc_walk *walk);

#endif

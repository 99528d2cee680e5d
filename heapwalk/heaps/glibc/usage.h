/*
 * The use of a glibc heap (heapwalk/heaps/usage.h), summed up between the steps
 * of the walk from their data: the heap is not read again.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_USAGE_H
#define HEAPWALK_HEAPS_GLIBC_USAGE_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * After the stretches: sums of used and free chunks, each by the flag of the
 * next chunk. Chunks in fastbins and tcaches still count as in use.
 */
enum mu_status mu_glibc_usage_open(struct mu_glibc_walk *walk);

/* Blocks taken since then were in fastbins. */
void mu_glibc_usage_fastbins(struct mu_glibc_walk *walk);

/* Blocks taken since then were in tcaches, except for the structs. */
void mu_glibc_usage_tcaches(struct mu_glibc_walk *walk);

/* The chunk of SIZE whose block is at ADDRESS is such a struct. */
void mu_glibc_usage_struct(
    struct mu_glibc_walk *walk, uintptr_t address, size_t size);

/* Add an mmapped chunk: WHOLE bytes of pages, USABLE bytes of its block. */
void mu_glibc_usage_mmapped(struct mu_glibc_walk *walk,
    const struct mu_glibc_mmapped *one, size_t whole, size_t usable);

/* After the blocks were sealed: compute the sums. */
void mu_glibc_usage_close(struct mu_glibc_walk *walk);

#endif

/*
 * A slab: a stretch of heap in which blocks of one size follow each other, some
 * of them free. A large block is a slab of one.
 */
#ifndef HEAPWALK_HEAPS_SLAB_H
#define HEAPWALK_HEAPS_SLAB_H

#include "heapwalk/heaps/heap.h"

struct mu_slab {
	struct mu_range range; /* at least its blocks */
	size_t size, count;    /* bytes of each block; their number */
	const uint64_t *live;  /* bit i: block i is the program's */
	const char *view;      /* the subject's bytes at range.begin */
};

/*
 * View of RANGE, which is heap: also of pages in it that the program has made
 * inaccessible. NULL if it is not readable.
 */
const char *mu_heap_view(const struct mu_snapshot *snap, struct mu_range range);

/* The number of live blocks. */
size_t mu_slab_live(const struct mu_slab *slab);

/*
 * Add the live blocks of SLAB, and the bytes of these to the usage:
 * MU_ERR_NO_MEMORY or MU_OK.
 */
enum mu_status mu_slab_add(struct mu_heap *heap, const struct mu_slab *slab,
    const struct mu_heap_member *member);

#endif

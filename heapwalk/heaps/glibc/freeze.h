/*
 * Stop malloc, and release it again.
 *
 * glibc has no malloc_disable(). Holding the mutex of every arena has the same
 * effect: no thread changes a bin, a top or a heap. Per-thread caches and
 * lock-free pushes to fastbins may still change, but leave the heap readable.
 *
 * Runs in: original.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_FREEZE_H
#define HEAPWALK_HEAPS_GLIBC_FREEZE_H

#include "heapwalk/heaps/heap.h"

/*
 * Take the mutexes of the arenas that were found and of those they lead to.
 * MU_ERR_BUSY if one cannot be taken before the deadline: the calling thread
 * interrupted malloc, or another thread keeps holding it.
 */
enum mu_status mu_glibc_freeze(struct mu_heap_member *member,
    const struct mu_heap_freeze *freeze, struct mu_why *why);

/* Release those that are held. */
void mu_glibc_thaw(struct mu_heap_member *member);

#endif

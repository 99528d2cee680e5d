/* Find threads that are inside malloc. */
#ifndef HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H
#define HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"

/* Implements mu_heap_ops.calls(). */
bool mu_call_of_malloc(long call);

/*
 * Implements mu_heap_ops.inside(): for each thread inside malloc or waiting for
 * an arena, the part of its stack, from the stack pointer on, that malloc's
 * frames can occupy.
 *
 * A thread counts if it runs in libc's code, or is in a system call that malloc
 * makes, or waits there for an arena's lock. The thread that asked for the pass
 * never counts. If a signal handler interrupted libc's code, the signal frame
 * and the stack above it count.
 */
bool mu_in_malloc_find(struct mu_ranges *frames, const struct mu_heap *heap,
    const struct mu_snapshot *snap);

/*
 * Implements mu_heap_ops.refers_by_header(): the block whose chunk header WORD
 * points at. A thread inside malloc may refer to a chunk by its header only
 * (mem2chunk() in glibc's malloc.c): one that waits in _int_free() for a busy
 * arena has no other pointer to a block that is still in use. In other places
 * the same address is the end of the block before, as in a full std::vector.
 */
bool mu_glibc_refers_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to);

#endif

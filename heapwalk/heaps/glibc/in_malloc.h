/*
 * Which threads are inside malloc.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H
#define HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"

/* mu_heap_ops.calls() */
bool mu_call_of_malloc(long call);

/*
 * mu_heap_ops.inside(): where a thread inside malloc, or one that waits for an
 * arena, has what it works at: its stack from the stack pointer on, as far as
 * malloc's frames can reach.
 *
 * A thread counts if it runs in libc's code, or is in a system call of malloc's
 * from there, or waits there for the lock that an arena begins with. Never the
 * one that asked for the pass. What a signal handler interrupted in libc's code
 * counts, too: there the frame that the kernel made, and the stack behind it.
 */
bool mu_in_malloc_find(struct mu_ranges *frames, const struct mu_heap *heap,
    const struct mu_snapshot *snap);

/*
 * mu_heap_ops.refers_by_header(): the block whose chunk header WORD points at.
 * A thread inside malloc has its chunk by the header only (mem2chunk() in
 * glibc's malloc.c): one that waits in _int_free() for a busy arena has no
 * other pointer to a block which is still in use. Elsewhere the same address is
 * that of the end of the block before, as a full std::vector has it.
 */
bool mu_glibc_refers_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to);

#endif

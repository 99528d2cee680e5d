/*
 * Which threads are inside malloc.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H
#define HEAPWALK_HEAPS_GLIBC_IN_MALLOC_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"

/* Do malloc and free make this system call, other than to wait for a lock? */
bool mu_call_of_malloc(long call);

/*
 * Where a thread inside malloc, or one that waits for an arena, has what it
 * works at: its stack from the stack pointer on, as far as malloc's frames can
 * reach. FRAMES comes from ARENA and is sealed. False: no memory.
 *
 * A thread counts if it runs in libc's code, or is in a system call of malloc's
 * from there, or waits there for the lock that an arena begins with. Never the
 * one that asked for the pass. What a signal handler interrupted in libc's code
 * counts, too: there the frame that the kernel made, and the stack behind it.
 */
bool mu_in_malloc_find(struct mu_ranges *frames, const struct mu_snapshot *snap,
    const struct mu_heap *heap, struct mu_arena *arena);

#endif

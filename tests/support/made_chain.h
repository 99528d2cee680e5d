/*
 * Chains of chunks as glibc's malloc lays them out, made by hand.
 */
#ifndef TESTS_SUPPORT_MADE_CHAIN_H
#define TESTS_SUPPORT_MADE_CHAIN_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heapwalk/heaps/glibc/chunks.h"

static uint64_t state; /* of the random numbers */
static char *heap;     /* where chains are made */

static inline void
random_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
}

static inline size_t
random_below(size_t bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % bound;
}

static inline size_t *
word_at(size_t offset)
{
	return (size_t *)(heap + offset);
}

/* A header of SIZE at AT; says of the chunk before whether it is in use. */
static inline void
put_header(size_t at, size_t size, size_t before, bool in_use, bool other)
{
	if (!in_use)
		*word_at(at) = before;
	*word_at(at + 8) = size | (in_use ? MU_PREV_INUSE : 0) |
	    (other ? MU_NON_MAIN_ARENA : 0);
}

static inline size_t
random_size(size_t style)
{
	switch (style) {
	case 0:
		return 32 + random_below(20) * 16;
	case 1:
		return 0x290 + random_below(2) * 16;
	case 2:
		return random_below(50) == 0 ? 32 + random_below(40000) * 16
					     : 32 + random_below(40) * 16;
	default:
		return 32 + random_below(100000) * 16;
	}
}

/* Chunks from FROM up to TO, where one must begin; the last is in use. */
static inline void
fill(size_t from, size_t to, size_t style, bool other)
{
	size_t at = from, size, before = 0;
	bool in_use = true;

	while (at < to) {
		size = random_size(style);
		if (to - at < size + 32)
			size = to - at;
		put_header(at, size, before, in_use, other);
		/* No two free ones touch. */
		in_use = !in_use || at + size == to || random_below(3) != 0;
		before = size;
		at += size;
	}
	put_header(to, 0, 0, true, other);
}

static inline void
map_heap(size_t size)
{
	heap = mmap((void *)0x7e0000000000, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heap == MAP_FAILED)
		abort();
}

#endif

/*
 * One reading of a glibc heap: what its steps share.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GLIBC_HEAP_H
#define HEAPWALK_GLIBC_HEAP_H

#include "heapwalk/glibc_arena.h"
#include "heapwalk/heap.h"
#include "heapwalk/ranges.h"

struct mu_glibc_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory; /* of the pass, not malloc's */
	struct mu_why *why;
	struct mu_heap *heap;
	struct mu_glibc glibc;

	/* Of each arena: free chunks that the walk saw. */
	size_t *num_free;

	/* Blocks in use of the size of a tcache struct. */
	uintptr_t *suspects;
	size_t num_suspects, max_suspects;
	bool suspects_lost; /* no memory for more of them */

	/* Heap stretches, headers and tops included. */
	struct mu_ranges stretches;

	/* Behind a foreign sbrk(): may be chunks, may be an imitation. */
	struct mu_ranges unproven;
};

static inline uintptr_t
mu_glibc_word(const char *view, size_t offset)
{
	uintptr_t word;

	__builtin_memcpy(&word, view + offset, sizeof(word));
	return word;
}

/* A word of malloc_state; 0 if it cannot be read. */
static inline uintptr_t
mu_glibc_arena_word(
    const struct mu_glibc_walk *walk, uintptr_t arena, size_t offset)
{
	uintptr_t word = 0;

	mu_snapshot_word(walk->snap, arena + offset, &word);
	return word;
}

/* int members: flags, n_mmaps */
static inline int
mu_glibc_int(const struct mu_glibc_walk *walk, uintptr_t address)
{
	const char *view = mu_snapshot_view(walk->snap, address, sizeof(int));
	int value = 0;

	if (view != NULL)
		__builtin_memcpy(&value, view, sizeof(value));
	return value;
}

/* Chunk size of a tcache struct; any release may give it 16 bytes more. */
static inline size_t
mu_glibc_tcache_chunk(const struct mu_glibc_walk *walk)
{
	return (walk->glibc.layout->tcache_size + 8u + 15) & ~15u;
}

enum mu_status mu_glibc_no_memory(struct mu_glibc_walk *walk);

#endif

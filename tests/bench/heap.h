/*
 * Heaps for measurements: N malloc blocks of 16 to 4096 bytes (123 on average),
 * in one of several shapes, with 1 % of them lost. The same plan gives the same
 * heap in every program that is linked with this.
 */
#ifndef TESTS_BENCH_HEAP_H
#define TESTS_BENCH_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_freed { BENCH_FREED_NONE, BENCH_FREED_INORDER, BENCH_FREED_RANDOM };

struct bench_plan {
	const char *shape;      /* see heap.c */
	size_t blocks;          /* allocated, lost and freed ones among them */
	size_t edges;           /* pointers a block, shape "graph" only */
	size_t min_size;        /* bytes a block at least */
	size_t lost_every;      /* one block in so many is lost; 0: none */
	size_t arenas;          /* threads that allocate, each its own part */
	bool lose_all;          /* the root is cut: everything is lost */
	enum bench_freed freed; /* every second block, before the links */
	uint64_t seed;
};

/*
 * Pages are kept by number: an address would hold the block that it is of.
 * All counts are of what is there when the heap is built, but for the table
 * that the shape "wide" begins with.
 */
struct bench_heap {
	size_t blocks, bytes; /* bytes: as malloc_usable_size() counts */
	size_t lost, lost_bytes;
	uint64_t low, high; /* first and last page of blocks below 128 KiB */
	uint64_t *pages; /* that have blocks; some are there more than once */
	size_t page_count;
};

#define BENCH_PAGE ((size_t)4096)

/* Fills in what the command line does not say. */
extern const struct bench_plan bench_plan_default;

/* False if there is no such shape, or no memory. */
bool bench_heap_build(const struct bench_plan *plan, struct bench_heap *heap);

/* xorshift64*; never 0. */
static inline uint64_t
bench_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* A pseudo-random number from 0 to BELOW - 1, nearly uniform. */
static inline size_t
bench_random_below(uint64_t *state, size_t below)
{
	return (size_t)((unsigned __int128)bench_random(state) * below >> 64);
}

#endif

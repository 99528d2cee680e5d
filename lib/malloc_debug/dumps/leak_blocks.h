/*
 * All live blocks at one moment, in the order of lists.
 *
 * Uses no malloc.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_LEAK_BLOCKS_H
#define LIB_MALLOC_DEBUG_DUMPS_LEAK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/shadow/recorder.h"
#include "mu/arena.h"

struct leak_block {
	uintptr_t begin; /* lowest address, if merged */
	size_t size;     /* of each */
	size_t count;    /* number of blocks that this entry represents */
	uint32_t stack;  /* as in struct recorded_block; of several: one's */
	bool child;      /* allocated after a fork */
	const struct mu_stack *trace; /* of STACK; NULL: it has no frames */
};

struct leak_blocks {
	struct leak_block *blocks;
	size_t count;
	bool short_of_memory; /* some blocks are missing */
	struct mu_arena arena;
};

/*
 * Collect the blocks for which WANTED (NULL: all) holds, except freed ones.
 * Call leak_blocks_close() in any case. Sorted: those of a child last; large
 * ones first; with a stack before those without; long stacks first; by address.
 */
void leak_blocks_take(
    struct leak_blocks *out, bool (*wanted)(const struct recorded_block *));
void leak_blocks_close(struct leak_blocks *blocks);

/* Merge to one entry for each child mark, size and stack, in the same order. */
void leak_blocks_merge(struct leak_blocks *blocks);

#endif

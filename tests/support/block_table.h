/*
 * A table of live blocks, and what an address finds in it.
 */
#ifndef TESTS_SUPPORT_BLOCK_TABLE_H
#define TESTS_SUPPORT_BLOCK_TABLE_H

#include <check.h>
#include <string.h>

#include "heapwalk/heaps/blocks.h"

static struct mu_arena arena;
static struct mu_blocks blocks;

static inline void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
	mu_blocks_open(&blocks, &arena);
}

static inline void
teardown(void)
{
	mu_arena_close(&arena);
}

static inline void
add(uintptr_t begin, uintptr_t end)
{
	struct mu_range range = { begin, end };

	ck_assert_int_eq(mu_blocks_add(&blocks, range, NULL, false), MU_OK);
}

static inline size_t
seal(void)
{
	size_t rejected = 99;

	ck_assert_int_eq(mu_blocks_seal(&blocks, &rejected), MU_OK);
	return rejected;
}

static inline bool
finds(uintptr_t value, uintptr_t begin, uintptr_t end)
{
	struct mu_block block;

	return mu_blocks_find(&blocks, value, &block) &&
	    block.range.begin == begin && block.range.end == end;
}

static inline bool
finds_nothing(uintptr_t value)
{
	struct mu_block block;

	return !mu_blocks_find(&blocks, value, &block);
}

struct seen {
	uintptr_t last;
	size_t count, bytes, stop_after;
};

static inline bool
see(void *ctx, const struct mu_block *block)
{
	struct seen *seen = ctx;

	ck_assert_uint_gt(block->range.begin, seen->last);
	seen->last = block->range.begin;
	seen->count++;
	seen->bytes += mu_range_size(block->range);
	return seen->stop_after == 0 || seen->count < seen->stop_after;
}

#endif

#include "tests/support/heaps/block_table.h"

struct mu_arena blocks_arena;
struct mu_blocks blocks;

void
blocks_setup(void)
{
	mu_arena_open(&blocks_arena, (size_t)1 << 30);
	mu_blocks_open(&blocks, &blocks_arena);
}

void
blocks_teardown(void)
{
	mu_arena_close(&blocks_arena);
}

void
add(uintptr_t begin, uintptr_t end)
{
	struct mu_range range = { begin, end };

	ck_assert_int_eq(mu_blocks_add(&blocks, range, NULL, false), MU_OK);
}

size_t
seal(void)
{
	size_t rejected = 99;

	ck_assert_int_eq(mu_blocks_seal(&blocks, &rejected), MU_OK);
	return rejected;
}

bool
finds(uintptr_t value, uintptr_t begin, uintptr_t end)
{
	struct mu_block block;

	return mu_blocks_find(&blocks, value, &block) &&
	    block.range.begin == begin && block.range.end == end;
}

bool
finds_nothing(uintptr_t value)
{
	struct mu_block block;

	return !mu_blocks_find(&blocks, value, &block);
}

bool
see(void *ctx, const struct mu_block *block)
{
	struct seen *seen = ctx;

	ck_assert_uint_gt(block->range.begin, seen->last);
	seen->last = block->range.begin;
	seen->count++;
	seen->bytes += mu_range_size(block->range);
	return seen->stop_after == 0 || seen->count < seen->stop_after;
}

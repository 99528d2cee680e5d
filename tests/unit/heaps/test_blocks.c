/*
 * The table of live blocks: what it accepts, which block an address finds,
 * which blocks are visited.
 */
#include "tests/support/heaps/block_table.h"
#include "tests/support/heaps/fake_heap.h"
#include "tests/support/suite.h"

TEST(HeapWalker_allocation)
{
	add(3, 4);
	add(2, 3);
	add(4, 5);
	ck_assert_uint_eq(seal(), 0);
	ck_assert_uint_eq(blocks.count, 3);
	ck_assert_uint_eq(blocks.bytes, 3);
	ck_assert(finds(2, 2, 3) && finds(3, 3, 4) && finds(4, 4, 5));
}

TEST(HeapWalker_overlap)
{
	static const struct mu_range second[] = {
		{ 2, 3 },                     /* exact */
		{ 2, 4 }, { 1, 3 }, { 1, 4 }, /* right, left, covering */
	};
	size_t i;

	for (i = 0; i < sizeof(second) / sizeof(*second); i++) {
		mu_blocks_open(&blocks, &blocks_arena);
		add(2, 3);
		add(second[i].begin, second[i].end);
		ck_assert_uint_eq(seal(), 1);
		ck_assert_uint_eq(blocks.count, 1);
		ck_assert(finds(2, 2, 3));
	}
	mu_blocks_open(&blocks, &blocks_arena);
	add(10, 20);
	add(15, 30);
	add(25, 40); /* only overlaps one that is not there */
	add(12, 14);
	add(5, 11);
	ck_assert_uint_eq(seal(), 3);
	ck_assert(finds(10, 10, 20) && finds(25, 25, 40));
	ck_assert(finds_nothing(20) && finds_nothing(9));
}

/* What was added before a seal comes before what is added after it. */
TEST(overlap_after_seal)
{
	add(2, 3);
	add(2, 3);
	add(2, 3);
	add(10, 20);
	ck_assert_uint_eq(seal(), 2);
	add(15, 16);
	ck_assert_uint_eq(seal(), 1);
	ck_assert(finds(2, 2, 3) && finds(10, 10, 20) && finds(15, 10, 20));
}

TEST(HeapWalker_zero)
{
	add(2, 2);
	add(3, 3);
	add(2, 2);
	ck_assert_uint_eq(seal(), 1);
	ck_assert_uint_eq(blocks.count, 2);
	ck_assert_uint_eq(blocks.bytes, 2);
	ck_assert(finds(2, 2, 3) && finds(3, 3, 4) && finds_nothing(4));
}

TEST(backwards_range)
{
	struct mu_range range = { 5, 4 };
	struct mu_range last = { UINTPTR_MAX, UINTPTR_MAX };

	ck_assert_int_eq(
	    mu_blocks_add(&blocks, range, NULL, false), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    mu_blocks_add(&blocks, last, NULL, false), MU_ERR_ARGUMENT);
}

TEST(interior)
{
	add(0x1000, 0x1040);
	add(0x1080, 0x10c0);
	seal();
	ck_assert(finds(0x1000, 0x1000, 0x1040));
	ck_assert(finds(0x103f, 0x1000, 0x1040));
	ck_assert(finds_nothing(0x1040) && finds_nothing(0x107f));
	ck_assert(finds(0x1081, 0x1080, 0x10c0));
}

TEST(case_envelope)
{
	struct mu_range span = { 0x5000, 0x6000 };
	static char memory[0x1000];

	ck_assert_ptr_nonnull(mu_blocks_add_span(&blocks, span, memory));
	add(0x1000, 0x1040);
	seal();
	ck_assert_uint_eq(blocks.envelope.begin, 0x1000);
	ck_assert_uint_eq(blocks.envelope.end, 0x6000);
	ck_assert(finds_nothing(0xfff) && finds_nothing(0x6000));
	ck_assert(finds_nothing(0) && finds_nothing(UINTPTR_MAX));
}

TEST(each_unmarked)
{
	static char memory[0x1000];
	struct mu_range range = { 0x5000, 0x6000 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);
	struct mu_range kept = { 0x8000, 0x8010 };
	struct seen all = { .count = 0 }, left = all;
	struct seen cut = { .stop_after = 7 };
	struct mu_block block;
	size_t i;

	span->tail = 8;
	for (i = 0; i < 0x1000; i += 0x40)
		fake_set(span, 0x5000 + i, 0x38);
	add(0x4000, 0x4010);
	add(0x7000, 0x7010);
	ck_assert_int_eq(mu_blocks_add(&blocks, kept, NULL, true), MU_OK);
	seal();
	mu_blocks_each(&blocks, see, &all);
	ck_assert_uint_eq(all.count, 64 + 3);
	ck_assert_uint_eq(mu_blocks_number(&blocks), 64 + 3);
	ck_assert(mu_blocks_unmark(&blocks, &blocks_arena, 64 + 3));

	for (i = 0; i < 0x1000; i += 0x80) {
		ck_assert(mu_blocks_find(&blocks, 0x5000 + i + 1, &block));
		ck_assert(mu_block_mark(&block));
		ck_assert(!mu_block_mark(&block));
	}
	ck_assert(mu_blocks_find(&blocks, 0x7000, &block));
	ck_assert(mu_block_mark(&block) && mu_block_marked(&block));
	mu_blocks_each_unmarked(&blocks, see, &left);
	ck_assert_uint_eq(left.count, 32 + 1);
	ck_assert(mu_blocks_unmarked_of(&blocks, 0x38));
	ck_assert(!mu_blocks_unmarked_of(&blocks, 0x39));
	mu_blocks_each(&blocks, see, &cut);
	ck_assert_uint_eq(cut.count, 7);
}

TEST(empty_table)
{
	struct seen seen = { .count = 0 };

	seal();
	ck_assert(finds_nothing(0) && finds_nothing(0x1000));
	mu_blocks_each(&blocks, see, &seen);
	ck_assert_uint_eq(seen.count, 0);
}

/* The n-th request for memory fails: a status, never a crash. */
TEST(no_memory)
{
	static char memory[0x100];
	struct mu_range range = { 0x5000, 0x5100 };
	size_t i;

	for (i = 1; i < 7; i++) {
		mu_arena_close(&blocks_arena);
		blocks_setup();
		blocks_arena.fail_at = i;
		if (mu_blocks_add_span(&blocks, range, memory) == NULL ||
		    mu_blocks_add(&blocks, range, NULL, false) != MU_OK)
			continue;
		ck_assert_uint_ge(i, 6);
	}
}

SUITE(.setup = blocks_setup, .teardown = blocks_teardown);

/*
 * Spans in the table of live blocks, also against a model.
 */
#include "heapwalk/heaps/spans.h"
#include "tests/support/heaps/block_table.h"
#include "tests/support/heaps/fake_heap.h"
#include "tests/support/suite.h"

#define SPAN_BYTES (1u << 20)
#define LOOKUPS 1000000

TEST(listed_overlaps_span)
{
	struct mu_range span = { 0x5000, 0x6000 };
	static char memory[0x1000];

	add(0x4ff0, 0x5001);
	add(0x5ff0, 0x6001);
	add(0x5800, 0x5801);
	add(0x4000, 0x7000);
	add(0x4ff0, 0x5000);
	add(0x6000, 0x6010);
	ck_assert_ptr_nonnull(mu_blocks_add_span(&blocks, span, memory));
	ck_assert_uint_eq(seal(), 4);
	ck_assert(finds(0x4ff8, 0x4ff0, 0x5000));
	ck_assert(finds(0x6000, 0x6000, 0x6010));
}

TEST(spans_overlap)
{
	struct mu_range one = { 0x5000, 0x6000 }, two = { 0x5ff0, 0x7000 };
	static char memory[0x2000];

	mu_blocks_add_span(&blocks, two, memory);
	mu_blocks_add_span(&blocks, one, memory);
	ck_assert_int_eq(
	    mu_blocks_seal(&blocks, NULL), MU_ERR_HEAP_INCONSISTENT);
}

/* Beside each other, and at both ends. */
TEST(setting)
{
	static char memory[0x100];
	struct mu_range range = { 0x5000, 0x5100 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);

	span->tail = 8;
	fake_set(span, 0x5010, 0x18);
	fake_set(span, 0x50f0, 8);
	seal();
	ck_assert_uint_eq(blocks.count, 2);
	ck_assert_uint_eq(blocks.bytes, 0x20);
	ck_assert(finds(0x5010, 0x5010, 0x5028));
	ck_assert(finds(0x5027, 0x5010, 0x5028));
	ck_assert(finds(0x50f7, 0x50f0, 0x50f8));
	ck_assert(finds_nothing(0x5000));
	ck_assert(finds_nothing(0x5028));
	ck_assert(finds_nothing(0x5030));
	ck_assert(finds_nothing(0x50f8));
}

/* What lies behind an end that was not set does not count as the block. */
TEST(without_a_bound)
{
	static char memory[0x100];
	struct mu_range range = { 0x5000, 0x5100 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);

	span->tail = 8;
	mu_span_begin(span, 2, 1, 0);
	span->count = 1;
	seal();
	ck_assert(finds(0x50ff, 0x5020, 0x5100));
	ck_assert(finds_nothing(0x501f));
}

/* Sizes of zero or more gaps in the bitmaps and in their summary. */
static size_t
random_size(size_t tail)
{
	size_t grains = 1 + (size_t)random() % 12;

	if (random() % 64 == 0)
		grains = 1 + (size_t)random() % 8192;
	return grains * MU_GRAIN + (tail != 0 ? MU_GRAIN - tail : 0);
}

/*
 * A million lookups in spans of blocks of all sizes, some live, some beside
 * each other. The model is an array with the block of every byte.
 */
TEST_LOOP(random_spans, 0, MU_GRAIN)
{
	static char memory[2][SPAN_BYTES];
	static uint32_t owner[2][SPAN_BYTES]; /* 1 + where it begins */
	const uintptr_t base[2] = { 0x700000, 0x300000 };
	struct seen seen = { .count = 0 };
	size_t i, s, at, size, count = 0, bytes = 0;
	struct mu_block block;
	struct mu_span *span;
	bool got;

	srandom(20220802);
	memset(owner, 0, sizeof(owner));
	for (s = 0; s < 2; s++) {
		struct mu_range range = { base[s], base[s] + SPAN_BYTES };

		span = mu_blocks_add_span(&blocks, range, memory[s]);
		span->tail = (size_t)_i;
		for (at = 0;; at += size + span->tail) {
			if (random() % 4 == 0)
				at += MU_GRAIN * ((size_t)random() % 3000);
			size = random_size(span->tail);
			if (at + size + span->tail > SPAN_BYTES)
				break;
			fake_set(span, base[s] + at, size);
			if (random() % 3 == 0) {
				mu_span_clear(span, base[s] + at);
				mu_span_clear(span, base[s] + at);
				continue;
			}
			for (i = at; i < at + size; i++)
				owner[s][i] = (uint32_t)at + 1;
			count++;
			bytes += size;
		}
	}
	add(0x500000, 0x500100);
	ck_assert_uint_eq(seal(), 0);
	ck_assert_uint_eq(blocks.count, count + 1);
	ck_assert_uint_eq(blocks.bytes, bytes + 0x100);

	mu_blocks_each(&blocks, see, &seen);
	ck_assert_uint_eq(seen.count, count + 1);
	ck_assert_uint_eq(seen.bytes, bytes + 0x100);

	for (i = 0; i < LOOKUPS; i++) {
		s = (size_t)random() % 2;
		at = (size_t)random() % SPAN_BYTES;
		got = mu_blocks_find(&blocks, base[s] + at, &block);
		if (got != (owner[s][at] != 0) ||
		    (got &&
			(block.range.begin != base[s] + owner[s][at] - 1 ||
			    block.view != memory[s] + owner[s][at] - 1)))
			ck_abort_msg("byte %lx of span %zu", (long)at, s);
	}
}

SUITE(.setup = blocks_setup, .teardown = blocks_teardown);

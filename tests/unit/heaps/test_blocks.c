/*
 * The table of live blocks: what it accepts, which block an address finds,
 * which blocks are visited.
 */
#include <check.h>
#include <string.h>

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/blocks_reading.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/read_buffer.h"
#include "mu/bits.h"
#include "tests/support/heaps/fake_heap.h"
#include "tests/support/suite.h"

struct seen {
	uintptr_t last;
	size_t count, bytes, stop_after;
};

static struct mu_arena blocks_arena;
static struct mu_blocks blocks;

static void
blocks_setup(void)
{
	mu_arena_open(&blocks_arena, (size_t)1 << 30);
	mu_blocks_open(&blocks, &blocks_arena);
}

static void
blocks_teardown(void)
{
	mu_arena_close(&blocks_arena);
}

static void
add(uintptr_t begin, uintptr_t end)
{
	struct mu_range range = { begin, end };

	ck_assert_int_eq(mu_blocks_add(&blocks, range, NULL, false), MU_OK);
}

static size_t
seal(void)
{
	size_t rejected = 99;

	ck_assert_int_eq(mu_blocks_seal(&blocks, &rejected), MU_OK);
	return rejected;
}

static bool
finds(uintptr_t value, uintptr_t begin, uintptr_t end)
{
	struct mu_block block;

	return mu_blocks_find(&blocks, value, &block) &&
	    block.range.begin == begin && block.range.end == end;
}

static bool
finds_nothing(uintptr_t value)
{
	struct mu_block block;

	return !mu_blocks_find(&blocks, value, &block);
}

static bool
see(void *ctx, const struct mu_block *block)
{
	struct seen *seen = ctx;

	ck_assert_uint_gt(block->range.begin, seen->last);
	seen->last = block->range.begin;
	seen->count++;
	seen->bytes += mu_range_size(block->range);
	return seen->stop_after == 0 || seen->count < seen->stop_after;
}

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

/* Numbers 1 to 64 are in the span; the last block is kept. */
TEST(each_of)
{
	static char memory[0x1000];
	struct mu_range range = { 0x5000, 0x6000 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);
	struct mu_range kept = { 0x8000, 0x8010 };
	struct seen thirds = { .count = 0 }, none = thirds;
	uint64_t of[2] = { 0, 0 };
	size_t i;

	span->tail = 8;
	for (i = 0; i < 0x1000; i += 0x40)
		fake_set(span, 0x5000 + i, 0x38);
	add(0x4000, 0x4020);
	add(0x7000, 0x7010);
	ck_assert_int_eq(mu_blocks_add(&blocks, kept, NULL, true), MU_OK);
	seal();
	ck_assert_uint_eq(mu_blocks_number(&blocks), 64 + 3);
	mu_blocks_each_of(&blocks, of, see, &none);
	ck_assert_uint_eq(none.count, 0);
	for (i = 0; i < 64 + 3; i += 3)
		mu_bit_set(of, i);
	mu_blocks_each_of(&blocks, of, see, &thirds);
	ck_assert_uint_eq(thirds.count, 1 + 21);
	ck_assert_uint_eq(thirds.bytes, 0x20 + 21 * 0x38);
	ck_assert_uint_eq(thirds.last, 0x5000 + 62 * 0x40);
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

/*
 * Spans in the table of live blocks, also against a model.
 */
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

#define AREA ((size_t)2 << 20)
#define PAGE ((size_t)4096)

/* Each word of the subject is its address, that of a view the complement. */
static uintptr_t subject[AREA / sizeof(uintptr_t)]
    __attribute__((aligned(4096)));
static uintptr_t viewed[AREA / sizeof(uintptr_t)];
static size_t num_reads, num_copies, num_views;

static bool
copy_subject(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	(void)memory;
	if (mu_range_size(range) == 0)
		return true;
	ck_assert_uint_eq(range.begin % PAGE + range.end % PAGE, 0);
	ck_assert_uint_ge(range.begin, (uintptr_t)subject);
	ck_assert_uint_le(range.end, (uintptr_t)subject + AREA);
	memcpy(buffer, (const char *)range.begin, mu_range_size(range));
	num_reads++;
	return true;
}

static bool
see_words(void *ctx, const struct mu_block *block)
{
	const uintptr_t *words = (const void *)block->view;
	size_t i, count = mu_range_size(block->range) / sizeof(*words);
	bool copied = words[0] == block->range.begin;
	uintptr_t address;

	(void)ctx;
	num_copies += copied;
	num_views += !copied;
	for (i = 0; i < count; i++) {
		address = block->range.begin + i * sizeof(*words);
		ck_assert_uint_eq(words[i], copied ? address : ~address);
	}
	return true;
}

/* Blocks of 40 bytes in half of the area, a large one, a gap, a last block. */
static void
fill_area(void)
{
	struct mu_range range = { (uintptr_t)subject,
		(uintptr_t)subject + AREA };
	struct mu_span *span =
	    mu_blocks_add_span(&blocks, range, (const char *)viewed);
	size_t i;

	for (i = 0; i < AREA / sizeof(uintptr_t); i++) {
		subject[i] = (uintptr_t)&subject[i];
		viewed[i] = ~subject[i];
	}
	span->tail = 8;
	for (i = 0; i < AREA / 2; i += 48)
		fake_set(span, range.begin + i, 40);
	fake_set(span, range.begin + i, MU_READ_BUFFER + PAGE + 8);
	fake_set(span, range.end - 48, 40);
	seal();
}

TEST(blocks_are_read_in_order)
{
	static const struct mu_memory_ops ops = { .read = copy_subject };
	struct mu_snapshot snap = { .memory = {
					.ops = &ops, .page_size = PAGE } };

	fill_area();
	mu_blocks_read_each(&blocks, &snap, see_words, NULL);
	ck_assert_uint_eq(num_copies + num_views, blocks.count);
	ck_assert_uint_eq(num_views, 1);
	ck_assert_uint_le(num_reads, AREA / 2 / MU_READ_BUFFER + 3);
	/* Memory that is there is not copied. */
	snap.memory.ops = NULL;
	num_views = num_reads = 0;
	mu_blocks_read_each(&blocks, &snap, see_words, NULL);
	ck_assert_uint_eq(num_views, blocks.count);
	ck_assert_uint_eq(num_reads, 0);
}

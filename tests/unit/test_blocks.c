/*
 * The table of live blocks against a model: what is accepted, what an address
 * finds, in which order blocks are visited.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/blocks.h"
#include "tests/support/suite.h"

#define SPAN_BYTES (1u << 20)
#define LOOKUPS 1000000

static struct mu_arena arena;
static struct mu_blocks blocks;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
	mu_blocks_open(&blocks, &arena);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
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

static void
put_header(char *memory, size_t chunk, size_t size_word)
{
	memcpy(memory + chunk + 8, &size_word, sizeof(size_word));
}

struct seen {
	uintptr_t last;
	size_t count, bytes, stop_after;
};

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

START_TEST(HeapWalker_allocation)
{
	add(3, 4);
	add(2, 3);
	add(4, 5);
	ck_assert_uint_eq(seal(), 0);
	ck_assert_uint_eq(blocks.count, 3);
	ck_assert_uint_eq(blocks.bytes, 3);
	ck_assert(finds(2, 2, 3) && finds(3, 3, 4) && finds(4, 4, 5));
}
END_TEST

START_TEST(HeapWalker_overlap)
{
	static const struct mu_range second[] = {
		{ 2, 3 },                     /* exact */
		{ 2, 4 }, { 1, 3 }, { 1, 4 }, /* right, left, covering */
	};
	size_t i;

	for (i = 0; i < sizeof(second) / sizeof(*second); i++) {
		mu_blocks_open(&blocks, &arena);
		add(2, 3);
		add(second[i].begin, second[i].end);
		ck_assert_uint_eq(seal(), 1);
		ck_assert_uint_eq(blocks.count, 1);
		ck_assert(finds(2, 2, 3));
	}
	mu_blocks_open(&blocks, &arena);
	add(10, 20);
	add(15, 30);
	add(25, 40); /* only overlaps one that is not there */
	add(12, 14);
	add(5, 11);
	ck_assert_uint_eq(seal(), 3);
	ck_assert(finds(10, 10, 20) && finds(25, 25, 40));
	ck_assert(finds_nothing(20) && finds_nothing(9));
}
END_TEST

START_TEST(HeapWalker_zero)
{
	add(2, 2);
	add(3, 3);
	add(2, 2);
	ck_assert_uint_eq(seal(), 1);
	ck_assert_uint_eq(blocks.count, 2);
	ck_assert_uint_eq(blocks.bytes, 2);
	ck_assert(finds(2, 2, 3) && finds(3, 3, 4) && finds_nothing(4));
}
END_TEST

START_TEST(mu60_backwards_range)
{
	struct mu_range range = { 5, 4 };
	struct mu_range last = { UINTPTR_MAX, UINTPTR_MAX };

	ck_assert_int_eq(
	    mu_blocks_add(&blocks, range, NULL, false), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    mu_blocks_add(&blocks, last, NULL, false), MU_ERR_ARGUMENT);
}
END_TEST

START_TEST(mu61_interior)
{
	add(0x1000, 0x1040);
	add(0x1080, 0x10c0);
	seal();
	ck_assert(finds(0x1000, 0x1000, 0x1040));
	ck_assert(finds(0x103f, 0x1000, 0x1040));
	ck_assert(finds_nothing(0x1040) && finds_nothing(0x107f));
	ck_assert(finds(0x1081, 0x1080, 0x10c0));
}
END_TEST

START_TEST(mu62_envelope)
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
END_TEST

START_TEST(listed_overlaps_span)
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
END_TEST

START_TEST(spans_overlap)
{
	struct mu_range one = { 0x5000, 0x6000 }, two = { 0x5ff0, 0x7000 };
	static char memory[0x2000];

	mu_blocks_add_span(&blocks, two, memory);
	mu_blocks_add_span(&blocks, one, memory);
	ck_assert_int_eq(
	    mu_blocks_seal(&blocks, NULL), MU_ERR_HEAP_INCONSISTENT);
}
END_TEST

/* Sizes that no chunk can have must not lead out of the span. */
START_TEST(hostile_size)
{
	static char memory[0x100];
	struct mu_range range = { 0x5000, 0x5100 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);

	put_header(memory, 0, (size_t)-1);
	put_header(memory, 0x20, 0);
	mu_span_set(span, 0x5010);
	mu_span_set(span, 0x5030);
	mu_span_set(span, 0x5000); /* no room for a header */
	mu_span_set(span, 0x5018); /* no grain */
	mu_span_set(span, 0x5100);
	seal();
	ck_assert_uint_eq(blocks.count, 2);
	ck_assert(finds(0x5020, 0x5010, 0x5100));
	ck_assert(finds(0x5030, 0x5030, 0x5031));
	ck_assert(finds_nothing(0x5000));
}
END_TEST

/*
 * A million lookups in spans of chunks of all sizes, some live. The model is
 * an array with the chunk of every grain.
 */
START_TEST(mu61_random_spans)
{
	static char memory[2][SPAN_BYTES];
	static uint32_t owner[2][SPAN_BYTES / MU_GRAIN];
	static bool live[2][SPAN_BYTES / MU_GRAIN];
	const uintptr_t base[2] = { 0x700000, 0x300000 };
	struct seen seen = { .count = 0 };
	size_t i, s, chunk, size, count = 0, bytes = 0;
	uintptr_t value;
	struct mu_block block;

	srandom(20220802);
	for (s = 0; s < 2; s++) {
		struct mu_range range = { base[s], base[s] + SPAN_BYTES };
		struct mu_span *span =
		    mu_blocks_add_span(&blocks, range, memory[s]);

		for (chunk = 0; chunk < SPAN_BYTES; chunk += size) {
			size = 32 +
			    16 *
				((size_t)random() %
				    (random() % 64 == 0 ? 8192 : 12));
			/* A heap never ends in a live chunk. */
			if (size > SPAN_BYTES - MU_GRAIN - chunk)
				break;
			put_header(memory[s], chunk, size | 5);
			for (i = chunk; i < chunk + size; i += MU_GRAIN)
				owner[s][i / MU_GRAIN] = (uint32_t)chunk;
			mu_span_set(span, base[s] + chunk + 16);
			if (random() % 3 == 0) {
				mu_span_clear(span, base[s] + chunk + 16);
				mu_span_clear(span, base[s] + chunk + 16);
				continue;
			}
			live[s][chunk / MU_GRAIN] = true;
			count++;
			bytes += size - 8;
		}
		for (i = chunk; i < SPAN_BYTES; i += MU_GRAIN)
			owner[s][i / MU_GRAIN] = (uint32_t)chunk;
	}
	add(0x500000, 0x500100);
	ck_assert_uint_eq(seal(), 0);
	ck_assert_uint_eq(blocks.count, count + 1);
	ck_assert_uint_eq(blocks.bytes, bytes + 0x100);

	mu_blocks_each(&blocks, see, &seen);
	ck_assert_uint_eq(seen.count, count + 1);
	ck_assert_uint_eq(seen.bytes, bytes + 0x100);

	for (i = 0; i < LOOKUPS; i++) {
		uintptr_t start;
		bool want, got;

		s = (size_t)random() % 2;
		value = (uintptr_t)random() % SPAN_BYTES;
		/* The last 8 bytes of a block are in the next chunk. */
		chunk = owner[s][value / MU_GRAIN];
		if (value - chunk < 8 && chunk > 0)
			chunk = owner[s][chunk / MU_GRAIN - 1];
		start = base[s] + chunk + 16;
		value += base[s];
		want = live[s][chunk / MU_GRAIN] && value >= start;
		got = mu_blocks_find(&blocks, value, &block);
		if (got != want || (got && block.range.begin != start) ||
		    (got && block.view != memory[s] + chunk + 16))
			ck_abort_msg("value %lx of span %zu", (long)value, s);
	}
}
END_TEST

START_TEST(each_unmarked)
{
	static char memory[0x1000];
	struct mu_range range = { 0x5000, 0x6000 };
	struct mu_span *span = mu_blocks_add_span(&blocks, range, memory);
	struct mu_range kept = { 0x8000, 0x8010 };
	struct seen all = { .count = 0 }, left = all;
	struct seen cut = { .stop_after = 7 };
	struct mu_block block;
	size_t i;

	for (i = 0; i < 0x1000; i += 0x40) {
		put_header(memory, i, 0x40 | 1);
		mu_span_set(span, 0x5000 + i + 16);
	}
	add(0x4000, 0x4010);
	add(0x7000, 0x7010);
	ck_assert_int_eq(mu_blocks_add(&blocks, kept, NULL, true), MU_OK);
	seal();
	mu_blocks_each(&blocks, see, &all);
	ck_assert_uint_eq(all.count, 64 + 3);

	for (i = 0; i < 0x1000; i += 0x80) {
		ck_assert(mu_blocks_find(&blocks, 0x5000 + i + 17, &block));
		ck_assert(mu_block_mark(&block));
		ck_assert(!mu_block_mark(&block));
	}
	ck_assert(mu_blocks_find(&blocks, 0x7000, &block));
	ck_assert(mu_block_mark(&block) && mu_block_marked(&block));
	mu_blocks_each_unmarked(&blocks, see, &left);
	ck_assert_uint_eq(left.count, 32 + 1);
	mu_blocks_each(&blocks, see, &cut);
	ck_assert_uint_eq(cut.count, 7);
}
END_TEST

START_TEST(empty_table)
{
	struct seen seen = { .count = 0 };

	seal();
	ck_assert(finds_nothing(0) && finds_nothing(0x1000));
	mu_blocks_each(&blocks, see, &seen);
	ck_assert_uint_eq(seen.count, 0);
}
END_TEST

/* The n-th request for memory fails: a status, never a crash. */
START_TEST(no_memory)
{
	static char memory[0x100];
	struct mu_range range = { 0x5000, 0x5100 };
	size_t i;

	for (i = 1; i < 6; i++) {
		mu_arena_close(&arena);
		setup();
		arena.fail_at = i;
		if (mu_blocks_add_span(&blocks, range, memory) == NULL ||
		    mu_blocks_add(&blocks, range, NULL, false) != MU_OK)
			continue;
		ck_assert_uint_ge(i, 5);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("blocks");
	TCase *tc = tcase_create("blocks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, HeapWalker_allocation);
	tcase_add_test(tc, HeapWalker_overlap);
	tcase_add_test(tc, HeapWalker_zero);
	tcase_add_test(tc, mu60_backwards_range);
	tcase_add_test(tc, mu61_interior);
	tcase_add_test(tc, mu62_envelope);
	tcase_add_test(tc, listed_overlaps_span);
	tcase_add_test(tc, spans_overlap);
	tcase_add_test(tc, hostile_size);
	tcase_add_test(tc, mu61_random_spans);
	tcase_add_test(tc, each_unmarked);
	tcase_add_test(tc, empty_table);
	tcase_add_test(tc, no_memory);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}

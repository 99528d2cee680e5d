/*
 * Spans of chunks in the table of live blocks, also against a model.
 */
#include <stdlib.h>

#include "tests/support/block_table.h"
#include "tests/support/suite.h"

#define SPAN_BYTES (1u << 20)
#define LOOKUPS 1000000

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
START_TEST(random_spans)
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

int
main(void)
{
	Suite *suite = suite_create("spans");
	TCase *tc = tcase_create("spans");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, listed_overlaps_span);
	tcase_add_test(tc, spans_overlap);
	tcase_add_test(tc, hostile_size);
	tcase_add_test(tc, random_spans);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}

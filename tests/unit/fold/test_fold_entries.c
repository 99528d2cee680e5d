/*
 * Folding: which entries are listed, their order and contents, and the answer
 * when time or memory runs out.
 */
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

static void **sizes[7]; /* blocks of different sizes */

static void
make_sizes(int kind)
{
	static const size_t words[] = { 4, 9, 4, 30, 9, 2, 4 };
	size_t i;

	folding_open_heap(kind, 8192);
	for (i = 0; i < 7; i++) {
		sizes[i] = folding_node(words[i]);
		memset(sizes[i], (int)i + 1, bytes(words[i]));
	}
}

/* The LIMIT largest of them, each by itself. */
static void
expect_sizes(size_t limit)
{
	static const size_t words[] = { 30, 9, 9, 4, 4, 4, 2 };
	static const size_t order[] = { 3, 1, 4, 0, 2, 6, 5 };
	size_t i, size;

	ck_assert_uint_eq(folding_leaks.num_leaks, 7);
	ck_assert_uint_eq(folding_leaks.entries.count, limit < 7 ? limit : 7);
	for (i = 0; i < folding_leaks.entries.count; i++) {
		size = bytes(words[i]);
		expect_entry(i, sizes[order[i]], size, 0, 0);
		ck_assert_mem_eq(folding_entries[i].contents, sizes[order[i]],
		    size < 32 ? size : 32);
	}
}

TEST_LOOP(order_and_limit, 0, FAKE_KINDS)
{
	size_t limit;

	make_sizes(_i);
	for (limit = 1; limit < 9; limit++) {
		ck_assert_int_eq(fold_until(limit, FAKE_NO_DEADLINE), MU_OK);
		expect_sizes(limit);
	}
}

TEST(contents_of_a_short_block)
{
	static const unsigned char zeros[32];
	char *a;

	folding_open_heap(FAKE_LISTED, 4096);
	a = fake_block(&folding_heap, 3, false);
	memset(a, 'x', 8);
	fold();
	ck_assert_mem_eq(folding_entries[0].contents, "xxx", 3);
	ck_assert_mem_eq(folding_entries[0].contents + 3, zeros, 29);
}

TEST_LOOP(limit_0, 0, FAKE_KINDS)
{
	folding_open_heap(_i, 4096);
	ring(5);
	folding_node(4);
	ck_assert_int_eq(fold_until(0, FAKE_NO_DEADLINE), MU_OK);
	expect_totals(6, 5 * bytes(1) + bytes(4), 0);
}

TEST_LOOP(nothing_leaked, 0, FAKE_KINDS)
{
	folding_open_heap(_i, 4096);
	fold();
	expect_totals(0, 0, 0);
}

TEST_LOOP(late, 0, FAKE_KINDS)
{
	folding_open_heap(_i, 4096);
	ring(5);
	folding_why.text[0] = '\0';
	ck_assert_int_eq(fold_until(9, 0), MU_PARTIAL);
	expect_totals(5, 5 * bytes(1), 0);
	ck_assert_ptr_nonnull(strstr(folding_why.text, "time"));
}

/* Each entry is a block by itself, for want of memory. */
static void
expect_blocks_alone(size_t count)
{
	size_t i;

	ck_assert_ptr_nonnull(strstr(folding_why.text, "memory"));
	ck_assert_ptr_nonnull(strstr(folding_why.text, "entry is one block"));
	ck_assert_uint_eq(folding_leaks.entries.count, count);
	for (i = 0; i < folding_leaks.entries.count; i++) {
		ck_assert_uint_eq(folding_entries[i].total_size, bytes(1));
		ck_assert_uint_eq(folding_entries[i].referenced_count, 0);
	}
}

/* Memory may run out at each request: the totals stand. */
TEST_LOOP(no_memory, 0, FAKE_KINDS)
{
	size_t n, num_partial = 0;

	folding_open_heap(_i, 4096);
	ring(5);
	fake_heap_seal(&folding_heap);
	after_make = forget_edges;
	for (n = 1; folding_heap.arena.fail_at == 0; n++) {
		folding_heap.arena.fail_at = n;
		if (fold_until(9, FAKE_NO_DEADLINE) == MU_OK) {
			expect_totals(5, 5 * bytes(1), 1);
			continue;
		}
		expect_totals(5, 5 * bytes(1), 5);
		expect_blocks_alone(5);
		num_partial++;
	}
	ck_assert_uint_gt(num_partial, 5);
	/* The edges made room for what failed. */
	folding_heap.arena.fail_at = 1;
	after_make = NULL;
	ck_assert_int_eq(fold_until(9, FAKE_NO_DEADLINE), MU_OK);
	expect_totals(5, 5 * bytes(1), 1);
}

/* The largest blocks, in the order of entries, as many as there is room for. */
TEST_LOOP(too_large_to_fold, 0, FAKE_KINDS)
{
	size_t limit;

	make_sizes(_i);
	after_make = forget_edges;
	*sizes[3] = sizes[1]; /* of which nothing is said */
	for (limit = 1; limit < 9; limit++) {
		folding_heap.arena.fail_at = 1;
		ck_assert_int_eq(
		    fold_until(limit, FAKE_NO_DEADLINE), MU_PARTIAL);
		expect_sizes(limit);
	}
}

/* The limit of the arena: what would have sufficed is noted, and suffices. */
TEST_LOOP(limited_memory, 0, FAKE_KINDS)
{
	size_t i, count = 20000, wanted;

	folding_open_heap(_i, 128 * count);
	for (i = 0; i < count; i++)
		folding_node(1);
	fake_heap_seal(&folding_heap);
	folding_heap.arena.limit =
	    folding_heap.arena.used + ((size_t)256 << 10);
	folding_heap.arena.refused = 0;
	ck_assert_int_eq(fold_until(10, FAKE_NO_DEADLINE), MU_PARTIAL);
	expect_totals(count, count * bytes(1), 10);
	wanted = folding_heap.arena.refused;
	ck_assert_uint_gt(wanted, folding_heap.arena.limit);
	folding_heap.arena.limit = wanted + ((size_t)1 << 20);
	ck_assert_int_eq(fold_until(10, FAKE_NO_DEADLINE), MU_OK);
	expect_totals(count, count * bytes(1), 10);
}

SUITE(.teardown = folding_teardown);

/*
 * Marking with a stack that is too small for the heap, and on a thread stack as
 * small as the sweeper's.
 */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define MANY 1000000

static void *
mark_body(void *ctx)
{
	(void)ctx;
	mark();
	return NULL;
}

TEST_LOOP(long_chain, 0, FAKE_KINDS)
{
	void **first, **last, **next;
	size_t i;

	marking_open_heap(_i, 40 * MANY);
	first = last = marking_node(1);
	for (i = 1; i < MANY; i++, last = next) {
		next = marking_node(1);
		last[0] = next;
	}
	marking_node(1);
	root_value(first);
	on_small_stack(mark_body, NULL);
	expect_leaks(1, fake_usable(&marking_heap, W));
}

TEST_LOOP(wide, 0, FAKE_KINDS)
{
	void **owner;
	size_t i;

	marking_open_heap(_i, 50 * MANY);
	owner = marking_node(MANY);
	for (i = 0; i < MANY; i++)
		owner[i] = marking_node(1);
	root_value(owner);
	ck_assert_int_eq(mark_bounded(1000), MU_OK);
	expect_leaks(0, 0);
}

/* A binary tree by index: each level is twice as wide. */
static void **
make_tree(size_t count, size_t words)
{
	void ***all = calloc(count, sizeof(*all)), **top;
	size_t i;

	ck_assert_ptr_nonnull(all);
	for (i = 0; i < count; i++) {
		all[i] = marking_node(words);
		if (i > 0)
			all[(i - 1) / 2][(i - 1) % 2] = all[i];
	}
	top = all[0];
	free(all);
	return top;
}

TEST_LOOP(overflow, 0, FAKE_KINDS)
{
	static const size_t depths[] = { 1, 2, 3, 17, 100 };
	size_t i;

	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		marking_open_heap(_i, 8 << 20);
		root_value(make_tree(100000, 2));
		marking_node(1);
		ck_assert_int_eq(mark_bounded(depths[i]), MU_OK);
		expect_leaks(1, fake_usable(&marking_heap, W));
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

/* Blocks that are scanned piece by piece have a bounded stack too. */
TEST_LOOP(overflow_of_long_blocks, 0, FAKE_KINDS)
{
	void **top, **last, **next;
	size_t i;

	marking_open_heap(_i, (size_t)400 << 20);
	top = last = marking_node(5000);
	for (i = 0; i < 4000; i++, last = next) {
		next = marking_node(5000);
		last[0] = next;
	}
	last[4999] = make_tree(4000, 5000);
	marking_node(1);
	root_value(top);
	ck_assert_int_eq(mark_bounded(10), MU_OK);
	expect_leaks(1, fake_usable(&marking_heap, W));
}

SUITE(.teardown = marking_teardown);

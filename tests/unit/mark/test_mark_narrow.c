/*
 * Heaps of which little is pending at a time: each of many steps must not cost
 * as much as the heap is large. If it does, these tests take minutes instead of
 * a second.
 */

#include "tests/support/graph/marking.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define LISTED 300000

/* 0: no edges are stored. */
static const size_t rooms[] = { (size_t)1 << 30, 0 };

static void
mark_all(int way)
{
	struct mu_workers workers = pthread_workers(1 + (unsigned)way / 2);

	fake_heap_seal(&marking_heap);
	marking_heap.blocks.workers = &workers;
	if (rooms[way % 2] == 0)
		marking_heap.arena.limit = marking_heap.arena.used + LISTED * 2;
	mark();
	ck_assert_int_eq(marking_graph.cells == NULL, rooms[way % 2] == 0);
	marking_heap.blocks.workers = NULL;
}

/*
 * A list whose nodes have their link last and point at each other's: each of
 * these words may be what free() left, and is checked by itself.
 */
TEST_LOOP(list_of_last_words, 0, 4)
{
	void **first, **last, **next;
	size_t i;

	marking_open_heap(FAKE_SPAN, LISTED * 32 + 4096);
	first = last = marking_node(3);
	for (i = 1; i < LISTED; i++, last = next) {
		next = marking_node(3);
		last[2] = &next[2];
	}
	marking_node(5);
	root_value(first);
	mark_all(_i);
	expect_leaks(1, 40);
}

/*
 * A tree level by level, by address: all of it is found in one sweep. Below one
 * node in 1000 hangs a block before the root.
 */
TEST_LOOP(tree_by_levels, 0, 4)
{
	void **before[LISTED / 1000], **tree[LISTED / 4];
	size_t i, count = LISTED / 4, hung = 0;

	marking_open_heap(FAKE_SPAN, LISTED * 32 + 4096);
	for (i = 0; i < count / 1000; i++)
		before[i] = marking_node(3);
	marking_node(5);
	for (i = 0; i < count; i++)
		tree[i] = marking_node(3);
	marking_node(7);
	for (i = 0; i < count; i++) {
		tree[i][0] = 2 * i + 1 < count ? tree[2 * i + 1] : NULL;
		tree[i][1] = 2 * i + 2 < count ? tree[2 * i + 2] : NULL;
		if (i % 1000 == 999)
			tree[i][2] = before[hung++];
	}
	root_value(tree[0]);
	mark_all(_i);
	expect_leaks(2, 40 + 56);
}

/* As the list, and each of many words leads to what only they lead to. */
TEST_LOOP(table_of_last_words, 0, 4)
{
	size_t i, count = 20000;
	void **table, **to, **next;

	marking_open_heap(FAKE_SPAN, 8 << 20);
	table = marking_node(8000);
	root_value(table);
	for (i = 0; i < count; i++) {
		to = marking_node(3);
		if (i < 8000)
			table[i] = &to[2];
		next = marking_node(3);
		to[0] = &next[2];
		to[2] = i < 8000 ? NULL : table;
	}
	mark_all(_i);
	expect_leaks(2 * (count - 8000), 2 * (count - 8000) * 24);
}

SUITE(.teardown = marking_teardown);

/*
 * Folding: the cases of Android's LeakFolding test; a cycle without an owner is
 * one entry. Each runs with listed blocks and with chunks.
 */
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

TEST_LOOP(one, 0, FAKE_KINDS)
{
	void **a;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	fold();
	expect_totals(1, bytes(1), 1);
	expect_entry(0, a, bytes(1), 0, 0);
}

TEST_LOOP(two, 0, FAKE_KINDS)
{
	void **a, **b;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	fold();
	expect_totals(2, 2 * bytes(1), 2);
	expect_entry(0, a, bytes(1), 0, 0);
	expect_entry(1, b, bytes(1), 0, 0);
}

TEST_LOOP(dominator, 0, FAKE_KINDS)
{
	void **a, **b;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	a[0] = b;
	fold();
	expect_totals(2, 2 * bytes(1), 1);
	expect_entry(0, a, bytes(1), 1, bytes(1));
}

TEST_LOOP(cycle, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	c = folding_node(1);
	a[0] = b;
	b[0] = c;
	c[0] = b;
	fold();
	expect_totals(3, 3 * bytes(1), 1);
	expect_entry(0, a, bytes(1), 2, 2 * bytes(1));
}

TEST_LOOP(dominator_cycle, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 4096);
	a = folding_node(2);
	b = folding_node(2);
	c = folding_node(1);
	a[0] = b;
	b[0] = a;
	b[1] = c;
	fold();
	expect_totals(3, 2 * bytes(2) + bytes(1), 1);
	expect_entry(0, a, bytes(2), 2, bytes(2) + bytes(1));
}

TEST_LOOP(two_cycles, 0, FAKE_KINDS)
{
	void **n[6];
	size_t i;

	folding_open_heap(_i, 4096);
	for (i = 0; i < 6; i++)
		n[i] = folding_node(1);
	n[0][0] = n[2];
	n[2][0] = n[3];
	n[3][0] = n[2];
	n[1][0] = n[4];
	n[4][0] = n[5];
	n[5][0] = n[4];
	fold();
	expect_totals(6, 6 * bytes(1), 2);
	expect_entry(0, n[0], bytes(1), 2, 2 * bytes(1));
	expect_entry(1, n[1], bytes(1), 2, 2 * bytes(1));
}

TEST_LOOP(two_dominator_cycles, 0, FAKE_KINDS)
{
	void **n[4];
	size_t i;

	folding_open_heap(_i, 4096);
	for (i = 0; i < 4; i++)
		n[i] = folding_node(1);
	n[0][0] = n[1];
	n[1][0] = n[0];
	n[2][0] = n[3];
	n[3][0] = n[2];
	fold();
	expect_totals(4, 4 * bytes(1), 2);
	expect_entry(0, n[0], bytes(1), 1, bytes(1));
	expect_entry(1, n[2], bytes(1), 1, bytes(1));
}

TEST_LOOP(giant_dominator_cycle, 0, FAKE_KINDS)
{
	void **first;

	folding_open_heap(_i, 1 << 20);
	first = ring(1000);
	fold();
	expect_totals(1000, 1000 * bytes(1), 1);
	expect_entry(0, first, bytes(1), 999, 999 * bytes(1));
}

TEST_LOOP(giant_cycle, 0, FAKE_KINDS)
{
	void **owner;

	folding_open_heap(_i, 1 << 20);
	owner = folding_node(1);
	owner[0] = ring(1000);
	fold();
	expect_totals(1001, 1001 * bytes(1), 1);
	expect_entry(0, owner, bytes(1), 1000, 1000 * bytes(1));
}

TEST_LOOP(multipath, 0, FAKE_KINDS)
{
	void **a, **b, **c, **d;

	folding_open_heap(_i, 4096);
	a = folding_node(2);
	b = folding_node(1);
	c = folding_node(1);
	d = folding_node(1);
	a[0] = b;
	a[1] = c;
	b[0] = d;
	c[0] = d;
	fold();
	expect_totals(4, bytes(2) + 3 * bytes(1), 1);
	expect_entry(0, a, bytes(2), 3, 3 * bytes(1));
}

TEST_LOOP(multicycle, 0, FAKE_KINDS)
{
	void **a, **b, **c, **d;

	folding_open_heap(_i, 4096);
	a = folding_node(2);
	b = folding_node(2);
	c = folding_node(2);
	d = folding_node(2);
	a[0] = b;
	b[0] = c;
	b[1] = d;
	c[0] = a;
	d[0] = c;
	fold();
	expect_totals(4, 4 * bytes(2), 1);
	expect_entry(0, a, bytes(2), 3, 3 * bytes(2));
}

TEST_LOOP(shared_child, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	c = folding_node(7);
	a[0] = c;
	b[0] = c;
	fold();
	expect_totals(3, 2 * bytes(1) + bytes(7), 2);
	expect_entry(0, a, bytes(1), 1, bytes(7));
	expect_entry(1, b, bytes(1), 1, bytes(7));
}

/* What two owners share is itself no tree: the walk for each owner anew. */
TEST_LOOP(shared_diamond, 0, FAKE_KINDS)
{
	void **a, **b, **top, **left, **right, **bottom;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	top = folding_node(2);
	left = folding_node(1);
	right = folding_node(1);
	bottom = folding_node(3);
	a[0] = b[0] = top;
	top[0] = left;
	top[1] = right;
	left[0] = right[0] = bottom;
	fold();
	expect_totals(6, 4 * bytes(1) + bytes(2) + bytes(3), 2);
	expect_entry(0, a, bytes(1), 4, bytes(2) + 2 * bytes(1) + bytes(3));
	expect_entry(1, b, bytes(1), 4, bytes(2) + 2 * bytes(1) + bytes(3));
}

TEST_LOOP(self_loop, 0, FAKE_KINDS)
{
	void **a;

	folding_open_heap(_i, 4096);
	a = folding_node(2);
	a[0] = a[1] = a;
	fold();
	expect_totals(1, bytes(2), 1);
	expect_entry(0, a, bytes(2), 0, 0);
}

/* A block below a cycle that points at itself is not in the cycle. */
TEST_LOOP(self_loop_below_a_cycle, 0, FAKE_KINDS)
{
	void **below, **first, **last;

	folding_open_heap(_i, 4096);
	below = folding_node(2);
	below[0] = below;
	first = folding_node(1);
	last = folding_node(2);
	first[0] = last;
	last[0] = first;
	last[1] = below;
	fold();
	expect_totals(3, 2 * bytes(2) + bytes(1), 1);
	expect_entry(0, first, bytes(1), 2, 2 * bytes(2));
	after_make = forget_edges;
	fold();
	after_make = NULL;
	expect_totals(3, 2 * bytes(2) + bytes(1), 1);
	expect_entry(0, first, bytes(1), 2, 2 * bytes(2));
}

TEST_LOOP(interior_pointer, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(16);
	c = folding_node(16);
	a[0] = (char *)b + bytes(16) - 1;
	b[0] = (char *)c + bytes(16);
	fold();
	expect_totals(3, bytes(1) + 2 * bytes(16), 2);
	expect_entry(0, a, bytes(1), 1, bytes(16));
	expect_entry(1, c, bytes(16), 0, 0);
}

static void **reachable;

static void
mark_reachable(void)
{
	struct mu_block block;

	ck_assert(
	    mu_blocks_find(&folding_heap.blocks, (uintptr_t)reachable, &block));
	mu_block_mark(&block);
	after_make = NULL;
}

TEST_LOOP(reachable_object, 0, FAKE_KINDS)
{
	void **a, **b, **c;

	folding_open_heap(_i, 4096);
	a = folding_node(1);
	b = folding_node(1);
	c = folding_node(1);
	a[0] = b;
	b[0] = c;
	reachable = b;
	after_make = mark_reachable;
	fold();
	expect_totals(2, 2 * bytes(1), 2);
	expect_entry(0, a, bytes(1), 0, 0);
	expect_entry(1, c, bytes(1), 0, 0);
}

/* Nothing is lost: there is nothing that time could be short for. */
TEST_LOOP(late_without_leaks, 0, FAKE_KINDS)
{
	folding_open_heap(_i, 4096);
	reachable = folding_node(1);
	after_make = mark_reachable;
	ck_assert_int_eq(fold_until(SIZE_MAX, 0), MU_OK);
	expect_totals(0, 0, 0);
}

TEST(kept_object)
{
	void **a, **kept;

	folding_open_heap(FAKE_LISTED, 4096);
	a = folding_node(1);
	kept = fake_block(&folding_heap, W, true);
	a[0] = kept;
	kept[0] = a;
	/* It is a root: what it refers to is not lost. */
	fold();
	expect_totals(0, 0, 0);
	kept[0] = NULL;
	fold();
	expect_totals(1, W, 1);
	expect_entry(0, a, W, 0, 0);
}

/*
 * Folding follows the words that marking follows (use_unaligned,
 * pointer_mask).
 */
#define TAG (0x12ul << 56)

static void
store(void *block, size_t at, const void *pointer, uintptr_t tag)
{
	uintptr_t word = (uintptr_t)pointer | tag;

	memcpy((char *)block + at, &word, sizeof(word));
}

/* An owner, and a ring of two that it leads to. */
TEST_LOOP(unaligned_edges, 0, FAKE_KINDS)
{
	void **owner, **first, **second;
	size_t unaligned, at;

	for (at = 0; at <= 2 * W; at++) {
		for (unaligned = 0; unaligned < 2; unaligned++) {
			folding_open_heap(_i, 4096);
			owner = folding_node(7);
			first = folding_node(3);
			second = folding_node(3);
			store(owner, at, first, 0);
			store(first, 3, second, 0);
			store(second, 5, first, 0);
			folding_heap.blocks.words.unaligned = unaligned;
			fold();
			if (unaligned) {
				expect_totals(3, bytes(7) + 2 * bytes(3), 1);
				expect_entry(
				    0, owner, bytes(7), 2, 2 * bytes(3));
			} else {
				ck_assert_uint_eq(folding_leaks.entries.count,
				    at % W == 0 ? 2 : 3);
			}
			fake_heap_close(&folding_heap);
		}
	}
	folding_open_heap(_i, 4096);
}

TEST_LOOP(tagged_edges, 0, FAKE_KINDS)
{
	void **owner, **child;
	size_t masked;

	for (masked = 0; masked < 2; masked++) {
		folding_open_heap(_i, 4096);
		owner = folding_node(7);
		child = folding_node(3);
		store(owner, W, (char *)child + 9, TAG);
		folding_heap.blocks.words.tags = masked ? 0xfful << 56 : 0;
		fold();
		expect_totals(2, bytes(7) + bytes(3), masked ? 1 : 2);
		expect_entry(0, owner, bytes(7), masked, masked ? bytes(3) : 0);
		fake_heap_close(&folding_heap);
	}
	folding_open_heap(_i, 4096);
}

SUITE(.teardown = folding_teardown);

/*
 * Folding a million blocks on a stack as small as the sweeper's, in linear
 * time.
 */

#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define MANY 1000000

#define BYTES_EACH 5 /* of memory for folding what hangs together */

static size_t used; /* of the arena, before the folding */

static void
note_used(void)
{
	used = folding_heap.arena.used;
}

static void *
fold_body(void *ctx)
{
	(void)ctx;
	fold();
	return NULL;
}

/* The graph of a chain takes as much: there is no component for each block. */
static void
expect_little_memory(void)
{
	after_make = note_used;
	on_small_stack(fold_body, NULL);
	after_make = NULL;
	ck_assert_uint_lt(folding_heap.arena.used - used, BYTES_EACH * MANY);
}

TEST_LOOP(long_chain, 0, FAKE_KINDS)
{
	void **first, **last, **next;
	size_t i;

	folding_open_heap(_i, 40 * MANY);
	first = last = folding_node(1);
	for (i = 1; i < MANY; i++, last = next) {
		next = folding_node(1);
		last[0] = next;
	}
	expect_little_memory();
	expect_totals(MANY, MANY * bytes(1), 1);
	expect_entry(0, first, bytes(1), MANY - 1, (MANY - 1) * bytes(1));
}

static void *
fold_largest(void *ctx)
{
	ck_assert_int_eq(fold_until(100, FAKE_NO_DEADLINE), MU_OK);
	return ctx;
}

/*
 * Blocks that no edge joins take a few bits each, beside others. The pair is
 * larger, so it comes first; two blocks of the pair's size come by address.
 */
TEST_LOOP(many_alone, 0, FAKE_KINDS)
{
	void **before, **first, **after, **alone = NULL;
	size_t i;

	folding_open_heap(_i, 40 * MANY);
	before = folding_node(4);
	first = folding_node(1);
	first[0] = folding_node(1);
	after = folding_node(4);
	for (i = 0; i < MANY; i++)
		alone = folding_node(1);
	after_make = note_used;
	on_small_stack(fold_largest, NULL);
	after_make = NULL;
	ck_assert_uint_lt(folding_heap.arena.used - used, MANY);
	expect_totals(MANY + 4, (MANY + 2) * bytes(1) + 2 * bytes(4), 100);
	ck_assert_uint_eq(folding_leaks.num_total, MANY + 3);
	ck_assert_uint_eq(folding_leaks.unreported_count, MANY + 4 - 101);
	ck_assert_uint_eq(
	    folding_leaks.unreported_bytes, (MANY - 97) * bytes(1));
	ck_assert_uint_eq(folding_leaks.unrecorded_least, bytes(1));
	ck_assert_uint_eq(folding_leaks.unrecorded_most, bytes(4));
	i = 2 * bytes(1) > bytes(4) ? 0 : 2;
	expect_entry(i, first, bytes(1), 1, bytes(1));
	expect_entry(i == 0, before, bytes(4), 0, 0);
	expect_entry(1 + (i == 0), after, bytes(4), 0, 0);
	ck_assert_uint_lt(folding_entries[99].range.begin, (uintptr_t)alone);
}

/* Each block points at the one below: numbers rise against the edges. */
TEST_LOOP(long_chain_backwards, FAKE_SPAN, FAKE_KINDS)
{
	void **last, **next;
	size_t i;

	folding_open_heap(_i, 40 * MANY);
	last = folding_node(1);
	for (i = 1; i < MANY; i++, last = next) {
		next = folding_node(1);
		next[0] = last;
	}
	expect_little_memory();
	expect_totals(MANY, MANY * bytes(1), 1);
	expect_entry(0, last, bytes(1), MANY - 1, (MANY - 1) * bytes(1));
}

TEST_LOOP(long_cycle, 0, FAKE_KINDS)
{
	void **first;

	folding_open_heap(_i, 40 * MANY);
	first = ring(MANY);
	expect_little_memory();
	expect_totals(MANY, MANY * bytes(1), 1);
	expect_entry(0, first, bytes(1), MANY - 1, (MANY - 1) * bytes(1));
}

TEST_LOOP(wide, FAKE_SPAN, FAKE_KINDS)
{
	void **owner;
	size_t i;

	folding_open_heap(_i, 50 * MANY);
	owner = folding_node(MANY);
	for (i = 0; i < MANY; i++)
		owner[i] = folding_node(1);
	on_small_stack(fold_body, NULL);
	expect_totals(MANY + 1, bytes(MANY) + MANY * bytes(1), 1);
	expect_entry(0, owner, bytes(MANY), MANY, MANY * bytes(1));
}

/* Quadratic if each owner walked the tail. */
TEST_LOOP(many_owners_of_a_tail, 0, FAKE_KINDS)
{
	size_t i, half = MANY / 10;
	void **tail, **last, **next;

	folding_open_heap(_i, 80 * half);
	tail = last = folding_node(1);
	for (i = 1; i < half; i++, last = next) {
		next = folding_node(1);
		last[0] = next;
	}
	for (i = 0; i < half; i++)
		folding_node(1)[0] = tail;
	fold();
	expect_totals(2 * half, 2 * half * bytes(1), half);
	for (i = 0; i < half; i++) {
		ck_assert_uint_eq(folding_entries[i].referenced_count, half);
		ck_assert_uint_eq(
		    folding_entries[i].referenced_size, half * bytes(1));
	}
}

/* The same if what they share is a ring with a diamond below. */
TEST_LOOP(many_owners_of_a_hub, 0, FAKE_KINDS)
{
	size_t i, half = MANY / 10;
	void **first, **top, **left, **right;

	folding_open_heap(_i, 80 * half);
	top = folding_node(3);
	left = folding_node(1);
	right = folding_node(1);
	left[0] = right[0] = folding_node(1);
	top[0] = left;
	top[1] = right;
	first = ring(half);
	top[2] = first[0];
	first[0] = top;
	for (i = 0; i < half; i++)
		folding_node(1)[0] = i % 2 ? first : left;
	fold();
	expect_totals(2 * half + 4, (2 * half + 3) * bytes(1) + bytes(3), half);
	for (i = 0; i < half; i++) {
		ck_assert_uint_eq(folding_entries[i].referenced_count,
		    i < half / 2 ? half + 4 : 2);
		ck_assert_uint_eq(folding_entries[i].referenced_size,
		    i < half / 2 ? (half + 3) * bytes(1) + bytes(3)
				 : 2 * bytes(1));
	}
}

SUITE(.teardown = folding_teardown);

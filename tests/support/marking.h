/*
 * What the tests of marking share: one heap, its roots, and what must be left
 * over. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_MARKING_H
#define TESTS_SUPPORT_MARKING_H

#include "heapwalk/mark/mark.h"
#include "tests/support/fake_heap.h"

#define W sizeof(void *)

static struct fake_heap heap;
static struct mu_graph graph_made;
static struct mu_root ranges[8];
static uintptr_t values[8];
static struct mu_roots roots = { .ranges = ranges, .values = values };

static inline void
open_heap(int kind, size_t size)
{
	fake_heap_open(&heap, kind, size);
	roots.num_ranges = roots.num_values = roots.num_headers = 0;
}

static inline void
teardown(void)
{
	fake_heap_close(&heap);
}

static inline void **
node(size_t words)
{
	return fake_block(&heap, words * W, false);
}

static inline void
root_range(const void *begin, const void *end)
{
	struct mu_range range = { (uintptr_t)begin, (uintptr_t)end };

	ranges[roots.num_ranges++] =
	    (struct mu_root) { range, begin, MU_ROOT_GLOBALS, false };
}

static inline void
root_value(const void *value)
{
	values[roots.num_values++] = (uintptr_t)value;
}

/* All anew, also if the heap was marked before. */
static inline enum mu_status
mark_with(struct mu_memory *memory, uint64_t deadline_ns, size_t max_depth)
{
	enum mu_status status;

	if (!heap.blocks.sealed)
		fake_heap_seal(&heap);
	status = mu_graph_make(&graph_made, &heap.blocks, &roots, memory,
	    &heap.arena, deadline_ns);
	return status != MU_OK
	    ? status
	    : mu_mark_bounded(&graph_made, deadline_ns, max_depth);
}

static inline enum mu_status
mark_bounded(size_t max_depth)
{
	return mark_with(NULL, FAKE_NO_DEADLINE, max_depth);
}

static inline void
mark(void)
{
	ck_assert_int_eq(mark_bounded(4096), MU_OK);
}

static inline bool
count_block(void *ctx, const struct mu_block *block)
{
	size_t *totals = ctx;

	totals[0]++;
	totals[1] += mu_range_size(block->range);
	return true;
}

static inline void
expect_leaks(size_t count, size_t bytes)
{
	size_t totals[2] = { 0, 0 };

	mu_blocks_each_unmarked(&heap.blocks, count_block, totals);
	ck_assert_uint_eq(totals[0], count);
	ck_assert_uint_eq(totals[1], bytes);
}

#endif

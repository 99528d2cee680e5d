#include "tests/support/graph/marking.h"

struct fake_heap marking_heap;
struct mu_graph marking_graph;
struct mu_root marking_ranges[8];
uintptr_t marking_values[8];
struct mu_roots marking_roots = { .ranges = marking_ranges,
	.values = marking_values };

void
marking_open_heap(int kind, size_t size)
{
	fake_heap_open(&marking_heap, kind, size);
	marking_roots.num_ranges = marking_roots.num_values =
	    marking_roots.num_headers = 0;
}

void
marking_teardown(void)
{
	fake_heap_close(&marking_heap);
}

void **
marking_node(size_t words)
{
	return fake_block(&marking_heap, words * W, false);
}

void
root_range(const void *begin, const void *end)
{
	struct mu_range range = { (uintptr_t)begin, (uintptr_t)end };

	marking_ranges[marking_roots.num_ranges++] =
	    (struct mu_root) { range, begin, MU_ROOT_GLOBALS, false, false };
}

void
root_value(const void *value)
{
	marking_values[marking_roots.num_values++] = (uintptr_t)value;
}

enum mu_status
mark_with(struct mu_memory *memory, uint64_t deadline_ns, size_t max_depth)
{
	enum mu_status status;

	if (!marking_heap.blocks.sealed)
		fake_heap_seal(&marking_heap);
	status = mu_graph_make(&marking_graph, &marking_heap.blocks,
	    &marking_roots, memory, &marking_heap.arena, deadline_ns);
	return status != MU_OK
	    ? status
	    : mu_mark_bounded(&marking_graph, deadline_ns, max_depth);
}

enum mu_status
mark_bounded(size_t max_depth)
{
	return mark_with(NULL, FAKE_NO_DEADLINE, max_depth);
}

void
mark(void)
{
	ck_assert_int_eq(mark_bounded(4096), MU_OK);
}

static bool
count_block(void *ctx, const struct mu_block *block)
{
	size_t *totals = ctx;

	totals[0]++;
	totals[1] += mu_range_size(block->range);
	return true;
}

void
expect_leaks(size_t count, size_t bytes)
{
	size_t totals[2] = { 0, 0 };

	mu_blocks_each_unmarked(&marking_heap.blocks, count_block, totals);
	ck_assert_uint_eq(totals[0], count);
	ck_assert_uint_eq(totals[1], bytes);
}

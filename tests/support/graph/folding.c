#include "tests/support/graph/folding.h"

struct fake_heap folding_heap;
struct mu_leaks folding_leaks;
struct mu_leak *folding_entries; /* of these */
struct mu_why folding_why;
struct mu_fold_wanted folding_wanted;
struct mu_graph folding_graph;

void (*after_make)(void);

void
forget_edges(void)
{
	mu_graph_forget_edges(&folding_graph);
}

void
folding_open_heap(int kind, size_t size)
{
	fake_heap_open(&folding_heap, kind, size);
}

void
folding_teardown(void)
{
	fake_heap_close(&folding_heap);
	free(folding_entries);
	folding_entries = NULL;
	folding_wanted = (struct mu_fold_wanted) { .limit = 0 };
}

void **
folding_node(size_t words)
{
	return fake_block(&folding_heap, words * W, false);
}

size_t
bytes(size_t words)
{
	return fake_usable(&folding_heap, words * W);
}

enum mu_status
fold_until(size_t limit, uint64_t deadline_ns)
{
	size_t fail_at = folding_heap.arena.fail_at;
	enum mu_status status;

	folding_heap.arena.fail_at = 0;
	if (!folding_heap.blocks.sealed)
		fake_heap_seal(&folding_heap);
	memset(&folding_leaks, 0xff, sizeof(folding_leaks));
	ck_assert_int_eq(mu_graph_make(&folding_graph, &folding_heap.blocks,
			     NULL, NULL, &folding_heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	if (after_make != NULL)
		after_make();
	folding_heap.arena.fail_at = fail_at;
	folding_wanted.limit = limit;
	folding_wanted.contents = folding_wanted.list = true;
	status = mu_fold(&folding_leaks, &folding_graph, &folding_wanted,
	    deadline_ns, &folding_why);
	free(folding_entries);
	folding_entries = unpack(&folding_leaks.entries);
	return status;
}

void
fold(void)
{
	ck_assert_int_eq(fold_until(SIZE_MAX, FAKE_NO_DEADLINE), MU_OK);
}

void
expect_totals(size_t num_leaks, size_t leak_bytes, size_t num_entries)
{
	ck_assert_uint_eq(folding_leaks.num_leaks, num_leaks);
	ck_assert_uint_eq(folding_leaks.leak_bytes, leak_bytes);
	ck_assert_uint_eq(folding_leaks.entries.count, num_entries);
}

void
expect_entry(size_t i, const void *begin, size_t size, size_t referenced_count,
    size_t referenced_size)
{
	const struct mu_leak *leak = &folding_entries[i];

	ck_assert_uint_lt(i, folding_leaks.entries.count);
	ck_assert_uint_eq(leak->range.begin, (uintptr_t)begin);
	ck_assert_uint_eq(mu_range_size(leak->range), size);
	ck_assert_uint_eq(leak->referenced_count, referenced_count);
	ck_assert_uint_eq(leak->referenced_size, referenced_size);
	ck_assert_uint_eq(leak->total_size, size + referenced_size);
	ck_assert_uint_eq(leak->similar_count, 0);
	ck_assert_uint_eq(leak->num_frames, 0);
}

void **
ring(size_t count)
{
	void **first = folding_node(1), **last = first, **next;

	while (--count > 0) {
		next = folding_node(1);
		last[0] = next;
		last = next;
	}
	last[0] = first;
	return first;
}

/*
 * What the tests of folding share: one heap, one answer, and what it has to
 * be. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_FOLDING_H
#define TESTS_SUPPORT_FOLDING_H

#include "heapwalk/fold/fold.h"
#include "tests/support/fake_heap.h"
#include "tests/support/unpacked.h"

#define W sizeof(void *)

static struct fake_heap heap;
static struct mu_leaks leaks;
static struct mu_leak *entries; /* of these */
static struct mu_why why;
static struct mu_graph graph_made;

/* Called when nothing is marked yet; NULL: nothing is reachable. */
static void (*after_make)(void);

static inline __attribute__((unused)) void
forget_edges(void)
{
	mu_graph_forget_edges(&graph_made);
}

static inline void
open_heap(int kind, size_t size)
{
	fake_heap_open(&heap, kind, size);
}

static inline void
teardown(void)
{
	fake_heap_close(&heap);
	free(entries);
	entries = NULL;
}

static inline void **
node(size_t words)
{
	return fake_block(&heap, words * W, false);
}

static inline size_t
bytes(size_t words)
{
	return fake_usable(&heap, words * W);
}

/* What fails, if anything is to, fails in the folding. */
static inline enum mu_status
fold_until(size_t limit, uint64_t deadline_ns)
{
	size_t fail_at = heap.arena.fail_at;
	enum mu_status status;

	heap.arena.fail_at = 0;
	if (!heap.blocks.sealed)
		fake_heap_seal(&heap);
	memset(&leaks, 0xff, sizeof(leaks));
	ck_assert_int_eq(mu_graph_make(&graph_made, &heap.blocks, NULL, NULL,
			     &heap.arena, FAKE_NO_DEADLINE),
	    MU_OK);
	if (after_make != NULL)
		after_make();
	heap.arena.fail_at = fail_at;
	status = mu_fold(&leaks, &graph_made, limit, true, deadline_ns, &why);
	free(entries);
	entries = unpack(&leaks.entries);
	return status;
}

static inline void
fold(void)
{
	ck_assert_int_eq(fold_until(SIZE_MAX, FAKE_NO_DEADLINE), MU_OK);
}

static inline void
expect_totals(size_t num_leaks, size_t leak_bytes, size_t num_entries)
{
	ck_assert_uint_eq(leaks.num_leaks, num_leaks);
	ck_assert_uint_eq(leaks.leak_bytes, leak_bytes);
	ck_assert_uint_eq(leaks.entries.count, num_entries);
}

static inline void
expect_entry(size_t i, const void *begin, size_t size, size_t referenced_count,
    size_t referenced_size)
{
	const struct mu_leak *leak = &entries[i];

	ck_assert_uint_lt(i, leaks.entries.count);
	ck_assert_uint_eq(leak->range.begin, (uintptr_t)begin);
	ck_assert_uint_eq(mu_range_size(leak->range), size);
	ck_assert_uint_eq(leak->referenced_count, referenced_count);
	ck_assert_uint_eq(leak->referenced_size, referenced_size);
	ck_assert_uint_eq(leak->total_size, size + referenced_size);
	ck_assert_uint_eq(leak->similar_count, 0);
	ck_assert_uint_eq(leak->num_frames, 0);
}

/* COUNT nodes of a word each, the last pointing at the first. */
static inline void **
ring(size_t count)
{
	void **first = node(1), **last = first, **next;

	while (--count > 0) {
		next = node(1);
		last[0] = next;
		last = next;
	}
	last[0] = first;
	return first;
}

#endif

/*
 * The contents of an answer: totals, and entries with their order and number,
 * also of a million lost blocks.
 */
#include "tests/support/pass/live_answer.h"
#include "tests/support/suite.h"

#define MANY ((size_t)1000000)

static void *global;

/* The answers that the program holds do not hide what they name. */
TEST(twice_with_results_held)
{
	struct UnreachableMemoryInfo first, second, third;
	char *text;

	lose_lots(size_various);
	get(&first, LOTS);
	text = GetUnreachableMemoryString(true, LOTS);
	ck_assert_ptr_nonnull(text);
	get(&second, LOTS);
	get(&third, 1);
	ck_assert_uint_eq(first.num_leaks, LOTS);
	ck_assert_uint_eq(second.num_leaks, LOTS);
	ck_assert_uint_eq(third.num_leaks, LOTS);
	ck_assert_uint_eq(first.num_reported, LOTS);
	ck_assert_mem_eq(
	    first.leaks, second.leaks, LOTS * sizeof(*first.leaks));
	FreeUnreachableMemoryInfo(&second);
	FreeUnreachableMemoryInfo(&first);
	ck_assert_ptr_null(first.leaks);
	ck_assert_uint_eq(first.num_leaks, 0);
	FreeUnreachableMemoryInfo(&first);
	FreeUnreachableMemoryInfo(&third);
	FreeUnreachableMemoryInfo(NULL);
	free(text);
	free_lots();
	EXPECT_LEAKS(0);
}

/* The totals are right also if no entries are asked for. */
TEST(limit_0)
{
	struct UnreachableMemoryInfo info;
	size_t i, bytes = 0;

	lose_lots(size_various);
	for (i = 0; i < LOTS; i++)
		bytes += block_size(lots[i]);
	get(&info, 0);
	ck_assert_ptr_null(info.leaks);
	ck_assert_uint_eq(info.num_reported, 0);
	ck_assert_uint_eq(info.num_leaks, LOTS);
	ck_assert_uint_eq(info.leak_bytes, bytes);
	FreeUnreachableMemoryInfo(&info);
	free_lots();
}

/* Sorted by descending total_size, then by address; cut afterwards. */
TEST(case_order)
{
	struct UnreachableMemoryInfo all, some;
	const struct Leak *leaks;
	size_t i;

	lose_lots(size_various);
	get(&all, SIZE_MAX);
	ck_assert_uint_eq(all.num_reported, LOTS);
	leaks = all.leaks;
	for (i = 1; i < LOTS; i++) {
		ck_assert(leaks[i - 1].total_size >= leaks[i].total_size);
		if (leaks[i - 1].total_size == leaks[i].total_size)
			ck_assert(leaks[i - 1].begin < leaks[i].begin);
	}
	for (i = 0; i < LOTS; i++)
		ck_assert_ptr_nonnull(entry_of(&all, lots[i]));
	get(&some, 77);
	ck_assert_uint_eq(some.num_reported, 77);
	ck_assert_mem_eq(some.leaks, all.leaks, 77 * sizeof(*some.leaks));
	FreeUnreachableMemoryInfo(&some);
	FreeUnreachableMemoryInfo(&all);
	free_lots();
}

static __attribute__((noinline)) void
fill(uintptr_t hidden, size_t size)
{
	unsigned char *block = mu_reveal(hidden);
	size_t i;

	for (i = 0; i < size; i++)
		block[i] = (unsigned char)(0x81 + i);
}

TEST(entry_contents)
{
	static const size_t sizes[] = { 1, 24, 25, 40, 5000, 300000 };
	enum { N = sizeof(sizes) / sizeof(*sizes) };
	struct UnreachableMemoryInfo info;
	const struct Leak *leak;
	uintptr_t blocks[N];
	size_t i, j;

	for (i = 0; i < N; i++) {
		blocks[i] = block_new(sizes[i]);
		fill(blocks[i], sizes[i]);
	}
	get(&info, 100);
	ck_assert_uint_eq(info.num_reported, N);
	for (i = 0; i < N; i++) {
		leak = entry_of(&info, blocks[i]);
		ck_assert_ptr_nonnull(leak);
		ck_assert_uint_eq(leak->size, block_size(blocks[i]));
		ck_assert_uint_eq(leak->total_size, leak->size);
		ck_assert_uint_eq(leak->referenced_count, 0);
		ck_assert_uint_eq(leak->referenced_size, 0);
		ck_assert_uint_eq(leak->similar_count, 0);
		ck_assert_uint_eq(leak->similar_size, 0);
		ck_assert_uint_eq(leak->similar_referenced_count, 0);
		ck_assert_uint_eq(leak->similar_referenced_size, 0);
		ck_assert_uint_eq(leak->backtrace.num_frames, 0);
		for (j = 0; j < sizeof(leak->contents); j++)
			ck_assert_uint_eq(leak->contents[j],
			    j < sizes[i] ? (unsigned char)(0x81 + j) : 0);
		for (j = 0; j < 8; j++)
			ck_assert_uint_eq(leak->reserved[j], 0);
	}
	FreeUnreachableMemoryInfo(&info);
}

/*
 * All live blocks are counted: blocks that this test adds change the count
 * exactly.
 */
TEST(num_allocations)
{
	struct UnreachableMemoryInfo before, after;
	size_t i, bytes = 0;

	/* So that malloc takes no memory that the test runner has freed. */
	lose_lots(size_various);
	free_lots();
	get(&before, 0);
	ck_assert_uint_gt(before.num_allocations, 0);
	lose_lots(size_various);
	for (i = 0; i < LOTS; i++)
		bytes += block_size(lots[i]);
	get(&after, 0);
	/* Check takes and returns a few blocks with every assertion. */
	ck_assert_uint_ge(after.num_allocations, before.num_allocations + LOTS);
	ck_assert_uint_le(
	    after.num_allocations, before.num_allocations + LOTS + 8);
	ck_assert_uint_ge(
	    after.allocation_bytes, before.allocation_bytes + bytes);
	ck_assert_uint_le(
	    after.allocation_bytes, before.allocation_bytes + bytes + 65536);
	ck_assert_uint_gt(after.total_ns, after.pause_ns);
	/* By signal only other threads are stopped, and there are none. */
	if (after.stop != MEMUNREACHABLE_STOP_SIGNAL)
		ck_assert_uint_gt(after.pause_ns, 0);
	FreeUnreachableMemoryInfo(&before);
	FreeUnreachableMemoryInfo(&after);
}

/* MANY blocks, each of which leads to the next; the first's hidden address. */
static __attribute__((noinline)) uintptr_t
lose_chain(bool closed, size_t *bytes)
{
	uintptr_t *first, *last, *block;
	size_t i;

	first = last = block_fresh(0, 16);
	*bytes = malloc_usable_size(first);
	for (i = 1; i < MANY; i++) {
		block = block_fresh(0, 16);
		*bytes += malloc_usable_size(block);
		*last = (uintptr_t)block;
		last = block;
	}
	if (closed)
		*last = (uintptr_t)first;
	return mu_hide(first);
}

static void
expect_one_entry(uintptr_t first, size_t bytes)
{
	struct UnreachableMemoryInfo info;
	const struct Leak *leak;

	get(&info, 100);
	ck_assert_uint_eq(info.num_leaks, MANY);
	ck_assert_uint_eq(info.num_reported, 1);
	leak = entry_of(&info, first);
	ck_assert_ptr_nonnull(leak);
	ck_assert_uint_eq(leak->referenced_count, MANY - 1);
	ck_assert_uint_eq(leak->referenced_size, bytes - block_size(first));
	ck_assert_uint_eq(leak->total_size, bytes);
	ck_assert_uint_eq(info.leak_bytes, bytes);
	FreeUnreachableMemoryInfo(&info);
}

TEST(chain_of_a_million)
{
	size_t bytes;
	uintptr_t first = lose_chain(false, &bytes);

	scrub();
	expect_one_entry(first, bytes);
}

/* One entry, at the lowest address: the heap grows upwards. */
TEST(cycle_of_a_million)
{
	size_t bytes;
	uintptr_t first = lose_chain(true, &bytes);

	scrub();
	expect_one_entry(first, bytes);
	put(&global, first);
	EXPECT_LEAKS(0);
}

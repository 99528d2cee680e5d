/*
 * The image unmaps a large heap as soon as it has been read, unless the answer
 * needs its contents. The answers are the same.
 */
#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define BLOCKS 200000 /* 40 MiB in spans */
#define SIZE 200
#define TABLE ((size_t)1 << 20) /* words: it has a mapping for itself */
#define EACH 1000               /* one of so many leads to one that is lost */

static void **table;

static __attribute__((noinline)) void
fill(void)
{
	void **block;
	size_t i;

	table = calloc(TABLE, sizeof(*table));
	for (i = 0; i < BLOCKS; i++) {
		table[i] = block = malloc(SIZE);
		memset(block, 'k', SIZE);
		if (i % EACH != 0)
			continue;
		block = malloc(SIZE);
		memset(block, 'l', SIZE);
		block[1] = malloc(SIZE);
		memset(block[1], 'm', SIZE);
	}
}

static void
fill_and_hide(void)
{
	fill();
	scrub_stack();
}

static void
check_string(bool contents, size_t limit)
{
	char *text = GetUnreachableMemoryString(contents, limit);

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(strstr(text, " 80000 bytes in 400 unreachable") != NULL,
	    "%.300s", text);
	ck_assert_int_eq(strstr(text, "6c 6c 6c 6c 6c 6c 6c 6c") != NULL,
	    contents && limit > 0);
	free(text);
}

static bool
note_table(void *ctx, const struct MemunreachableReference *reference)
{
	*(bool *)ctx |= reference->address == (uintptr_t)&table[50000];
	return true;
}

TEST(same_answers)
{
	struct UnreachableMemoryInfo info = { .version = 0 };
	bool found = false;
	size_t i;

	fill_and_hide();
	check_string(false, 100);
	check_string(true, 100);
	check_string(true, 0);
	ck_assert(GetUnreachableMemory(&info, 1000));
	ck_assert_uint_eq(info.num_leaks, 400);
	ck_assert_uint_eq(info.num_entries, BLOCKS / EACH);
	for (i = 0; i < info.num_entries; i++) {
		ck_assert_uint_eq(info.leaks[i].referenced_count, 1);
		ck_assert_int_eq(info.leaks[i].contents[0], 'l');
	}
	FreeUnreachableMemoryInfo(&info);
	ck_assert_int_ge(
	    memunreachable_why_reachable(table[50000], note_table, &found), 1);
	ck_assert(found);
	/* The program has all of it. */
	for (i = 0; i < BLOCKS; i++)
		ck_assert_int_eq(((char *)table[i])[SIZE - 1], 'k');
}

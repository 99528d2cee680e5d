/*
 * lib/report/hint.c: the sizes to record stacks for.
 */
#include <malloc.h>

#include "lib/pipe/entries.h"
#include "lib/report/hint.h"
#include "tests/support/suite.h"

static bool
hint_sizes(
    const struct UnreachableMemoryInfo *info, size_t *least, size_t *most)
{
	struct mu_entries entries = mu_entries_of(info);

	return mu_hint_sizes(info, &entries, least, most);
}

/* Also of those that the limit cut: no entry here is of 40 or 5000 bytes. */
TEST(of_all_entries)
{
	struct Leak leak = { .size = 104 };
	struct UnreachableMemoryInfo info = { .leaks = &leak,
		.num_reported = 1,
		.unrecorded_min = 40,
		.unrecorded_max = 5000 };
	size_t least, most;

	ck_assert(hint_sizes(&info, &least, &most));
	ck_assert_uint_eq(least, 25);
	ck_assert_uint_eq(most, 5000);
	leak.backtrace.num_frames = 1;
	ck_assert(!hint_sizes(&info, &least, &most));
	info = (struct UnreachableMemoryInfo) { 0 };
	ck_assert(!hint_sizes(&info, &least, &most));
}

/* Whatever malloc is asked for is within what its block's size leads to. */
TEST(sizes_of_malloc)
{
	size_t size, least, most;
	struct UnreachableMemoryInfo info = { 0 };
	void *block;

	for (size = 1; size < 3000000; size += 1 + size / 50) {
		block = malloc(size);
		info.unrecorded_min = malloc_usable_size(block);
		info.unrecorded_max = info.unrecorded_min;
		ck_assert(hint_sizes(&info, &least, &most));
		ck_assert_uint_le(least, size);
		ck_assert_uint_ge(most, size);
		free(block);
	}
}

/* glibc 2.43 leaves out the last 16 bytes of a mapping, of which 8 are usable.
 */
TEST_LOOP(size_of_a_mapping, 0, 2)
{
	size_t usable = 33 * 4096 - (_i == 0 ? 16 : 24), least, most;
	struct UnreachableMemoryInfo info = { .unrecorded_min = usable,
		.unrecorded_max = usable };

	ck_assert(hint_sizes(&info, &least, &most));
	ck_assert_uint_eq(least, usable - 4095);
	ck_assert_uint_eq(most, usable);
}

TEST(in_words)
{
	char buffer[256];
	struct mu_text text = { buffer, sizeof(buffer), 0 };

	mu_hint_environment(&text, 25, 4096);
	ck_assert_str_eq(buffer,
	    "no stacks were recorded: LIBC_DEBUG_MALLOC_OPTIONS='backtrace "
	    "backtrace_min_size=25 backtrace_max_size=4096' "
	    "LD_PRELOAD=libmemunreachable-malloc-debug.so tells who "
	    "allocated these");
	text.length = 0;
	mu_hint_command(&text, 25, 4096);
	ck_assert_str_eq(buffer,
	    "no stacks were recorded: memunreachable --backtrace "
	    "--backtrace-size=25-4096 -- COMMAND tells who allocated these");
	/* The log's lines are shorter than 256 bytes, whatever the sizes. */
	text.length = 0;
	mu_hint_environment(&text, SIZE_MAX, SIZE_MAX);
	ck_assert_uint_lt(text.length, sizeof(buffer));
}

/*
 * lib/report/hint.c: the sizes to record stacks for.
 */
#include <check.h>
#include <malloc.h>
#include <stdlib.h>

#include "lib/report/hint.h"
#include "tests/support/suite.h"

static bool
sizes(struct Leak *leaks, size_t count, size_t *least, size_t *most)
{
	struct UnreachableMemoryInfo info = { .leaks = leaks,
		.num_reported = count };

	return mu_hint_sizes(&info, least, most);
}

START_TEST(of_all_entries)
{
	struct Leak leaks[3] = { { .size = 104 }, { .size = 40 },
		{ .size = 5000 } };
	size_t least, most;

	ck_assert(sizes(leaks, 3, &least, &most));
	ck_assert_uint_eq(least, 25);
	ck_assert_uint_eq(most, 5000);
	ck_assert(!sizes(leaks, 0, &least, &most));
	leaks[1].backtrace.num_frames = 1;
	ck_assert(!sizes(leaks, 3, &least, &most));
}
END_TEST

/* Whatever malloc is asked for is within what its block's size leads to. */
START_TEST(sizes_of_malloc)
{
	size_t size, least, most;
	struct Leak leak = { .size = 0 };
	void *block;

	for (size = 1; size < 3000000; size += 1 + size / 50) {
		block = malloc(size);
		leak.size = malloc_usable_size(block);
		ck_assert(sizes(&leak, 1, &least, &most));
		ck_assert_uint_le(least, size);
		ck_assert_uint_ge(most, size);
		free(block);
	}
}
END_TEST

START_TEST(in_words)
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
END_TEST

int
main(void)
{
	Suite *suite = suite_create("hint");
	TCase *tcase = tcase_create("Hint");

	tcase_add_test(tcase, of_all_entries);
	tcase_add_test(tcase, sizes_of_malloc);
	tcase_add_test(tcase, in_words);
	suite_add_tcase(suite, tcase);

	return suite_run(suite);
}

/*
 * With cmocka: the second of three tests loses memory, and fails for it.
 *
 *	cc -g leaks_cmocka.c $(pkg-config --cflags --libs cmocka memunreachable)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <memunreachable/test_frames.h>

#include "split.h"

static struct memunreachable_frames frames;

static int
begin(void **state)
{
	(void)state;
	memunreachable_frames_begin(&frames, "the test", false);
	return 0;
}

static int
end(void **state)
{
	const char *lost = memunreachable_frames_end(&frames);

	(void)state;
	if (lost != NULL)
		print_error("%s\n", lost);
	return lost != NULL;
}

static void
all_words(void **state)
{
	size_t count;
	char **words = split("one,two,three", &count);

	(void)state;
	assert_int_equal(count, 3);
	free_words(words, count);
}

static void
array_only(void **state)
{
	size_t count;
	char **words = split("one,two,three", &count);

	(void)state;
	assert_string_equal(words[2], "three");
	free(words); /* and not the strings */
}

static void
no_words(void **state)
{
	size_t count;
	char **words = split("", &count);

	(void)state;
	assert_int_equal(count, 0);
	free_words(words, count);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_words, begin, end),
		cmocka_unit_test_setup_teardown(array_only, begin, end),
		cmocka_unit_test_setup_teardown(no_words, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

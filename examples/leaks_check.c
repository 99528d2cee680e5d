/*
 * With Check: the second of three tests loses memory, and fails for it.
 *
 *	cc -g leaks_check.c $(pkg-config --cflags --libs check memunreachable)
 */
#include <memunreachable/check.h>

#include "split.h"

START_TEST(all_words)
{
	size_t count;
	char **words = split("one,two,three", &count);

	ck_assert_uint_eq(count, 3);
	free_words(words, count);
}
END_TEST

START_TEST(array_only)
{
	size_t count;
	char **words = split("one,two,three", &count);

	ck_assert_str_eq(words[2], "three");
	free(words); /* and not the strings */
}
END_TEST

START_TEST(no_words)
{
	size_t count;
	char **words = split("", &count);

	ck_assert_uint_eq(count, 0);
	free_words(words, count);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("split");
	TCase *tcase = tcase_create("words");
	SRunner *runner = srunner_create(suite);
	int failed;

	memunreachable_tcase_no_leaks(tcase);
	tcase_add_test(tcase, all_words);
	tcase_add_test(tcase, array_only);
	tcase_add_test(tcase, no_words);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

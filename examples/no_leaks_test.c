/*
 * NoLeaks() in a unit test, here with libcheck. SHOW_FAILURE=1 adds a test that
 * fails, to show how a failed assertion explains itself: NoLeaks() logs what it
 * found, or why it could not check.
 *
 *	cc no_leaks_test.c $(pkg-config --cflags --libs memunreachable check)
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <memunreachable/memunreachable.h>

/* The code under test: "a,b,c" becomes an array of strings. */
static char **
split(const char *text, size_t *count)
{
	char **words = NULL, **grown;
	size_t length;

	for (*count = 0; *text != '\0'; (*count)++) {
		length = strcspn(text, ",");
		grown = realloc(words, (*count + 1) * sizeof(*words));
		ck_assert_ptr_nonnull(grown);
		words = grown;
		words[*count] = strndup(text, length);
		text += length + (text[length] == ',');
	}
	return words;
}

static void
free_words(char **words, size_t count)
{
	while (count > 0)
		free(words[--count]);
	free(words);
}

START_TEST(split_and_free)
{
	size_t count;
	char **words = split("one,two,three", &count);

	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(words[2], "three");
	free_words(words, count);
	ck_assert(NoLeaks());
}
END_TEST

/* A separate function, so that no register holds the array when it returns. */
static __attribute__((noinline)) void
split_and_forget(void)
{
	size_t count;
	char **words = split("one,two,three", &count);

	free(words); /* and not the strings */
}

START_TEST(split_and_free_by_halves)
{
	split_and_forget();
	ck_assert(NoLeaks());
}
END_TEST

int
main(void)
{
	const char *show_failure = getenv("SHOW_FAILURE");
	Suite *suite = suite_create("split");
	TCase *tc = tcase_create("leaks");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, split_and_free);
	if (show_failure != NULL && strcmp(show_failure, "1") == 0)
		tcase_add_test(tc, split_and_free_by_halves);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

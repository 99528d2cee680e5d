/* Check's tests that end in other ways, and fixtures. */
#include <memunreachable/check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *of_fixture;

/* The compiler must keep the allocation. */
static inline void
use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void
set_up(void)
{
	of_fixture = strdup("of the fixture");
}

static void
tear_down(void)
{
	free(of_fixture);
	of_fixture = NULL;
}

/* What is lost between two cases is no test's. */
static void
between(void)
{
	static char *held;

	held = strdup("lost between cases");
	use(&held);
	held = NULL;
}

static __attribute__((noinline)) void
lose(void)
{
	use(strdup("lost"));
}

START_TEST(asserts)
{
	lose();
	ck_assert_no_leaks();
	ck_abort_msg("behind");
}
END_TEST

/* It fails once, for the assertion. */
START_TEST(fails)
{
	lose();
	ck_abort_msg("before the end");
}
END_TEST

START_TEST(clean_behind_it)
{
	ck_assert_no_leaks();
}
END_TEST

START_TEST(lost_by_fixture)
{
	of_fixture = NULL;
}
END_TEST

/* Longer than a message of Check. */
START_TEST(many_lost)
{
	size_t i;

	for (i = 1; i < 400; i++)
		use(calloc(i, 24));
}
END_TEST

START_TEST(lost_at_last)
{
	lose();
}
END_TEST

START_TEST(clean)
{
	ck_assert_ptr_nonnull(of_fixture);
}
END_TEST

/* Only in fork mode. */
START_TEST(exits)
{
	lose();
	exit(3);
}
END_TEST

START_TEST(raises)
{
	lose();
	raise(SIGUSR1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ends");
	TCase *one = tcase_create("one"), *two = tcase_create("two");
	SRunner *runner = srunner_create(suite);
	bool forks = srunner_fork_status(runner) == CK_FORK;
	int failed;

	memunreachable_tcase_no_leaks(one);
	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, asserts);
	tcase_add_test(one, fails);
	tcase_add_test(one, clean_behind_it);
	tcase_add_test(one, lost_by_fixture);
	tcase_add_test(one, many_lost);
	tcase_add_test(one, lost_at_last);
	if (forks) {
		tcase_add_exit_test(one, exits, 3);
		tcase_add_test_raise_signal(one, raises, SIGUSR1);
	}
	suite_add_tcase(suite, one);
	tcase_add_unchecked_fixture(two, between, NULL);
	memunreachable_tcase_no_leaks(two);
	tcase_add_checked_fixture(two, set_up, tear_down);
	tcase_add_test(two, clean);
	suite_add_tcase(suite, two);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

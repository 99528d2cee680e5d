/*
 * lib/backtrace.c: frames behind the first 16, and what does not add up.
 */
#include "lib/backtrace.h"

#include <check.h>
#include <stdint.h>

#include "tests/support/suite.h"

static struct Leak leaks[3];
static uintptr_t words[300];

static void
setup(void)
{
	size_t i;

	for (i = 0; i < 300; i++)
		words[i] = 1000 + i;
	for (i = 0; i < 3; i++)
		leaks[i].backtrace =
		    (struct LeakBacktrace) { .num_frames = 16 };
	leaks[0].backtrace.num_more = 240;
	leaks[1].backtrace.num_frames = 3;
	leaks[2].backtrace.num_more = 2;
}

START_TEST(attached)
{
	struct LeakBacktrace *last = &leaks[2].backtrace;

	last->frames[15] = 15;
	ck_assert_uint_eq(mu_backtrace_more(leaks, 3), 242);
	ck_assert(mu_backtrace_attach(leaks, 3, words, 242));
	ck_assert_uint_eq(mu_backtrace_count(&leaks[0].backtrace), 256);
	ck_assert_uint_eq(mu_backtrace_count(&leaks[1].backtrace), 3);
	ck_assert_uint_eq(mu_backtrace_count(last), 18);
	ck_assert_uint_eq(mu_backtrace_frame(&leaks[0].backtrace, 16), 1000);
	ck_assert_uint_eq(mu_backtrace_frame(last, 15), 15);
	ck_assert_uint_eq(mu_backtrace_frame(last, 17), 1000 + 241);
	last->more = NULL;
	ck_assert_uint_eq(mu_backtrace_count(last), 16);
}
END_TEST

START_TEST(what_does_not_add_up)
{
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 241));
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 243));
	leaks[0].backtrace.num_more = 241;
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 243));
	leaks[0].backtrace.num_more = SIZE_MAX;
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 1));
	setup();
	leaks[1].backtrace.num_more = 1;
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 243));
	setup();
	leaks[1].backtrace.num_frames = 17;
	ck_assert(!mu_backtrace_attach(leaks, 3, words, 242));
	ck_assert_uint_eq(mu_backtrace_count(&leaks[1].backtrace), 16);
	ck_assert(mu_backtrace_attach(leaks, 0, words, 0));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("backtrace");
	TCase *tests = tcase_create("backtrace");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, attached);
	tcase_add_test(tests, what_does_not_add_up);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}

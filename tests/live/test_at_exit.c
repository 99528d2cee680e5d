/*
 * The report at the end of the program (at_exit=1): leaks change the exit
 * status, a check that could not run leaves it alone, no output is lost.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

#define DONE " unreachable out of "
#define ONE_LEAK "24 bytes in 1 allocation unreachable out of "

static struct child child;

static __attribute__((noinline)) uintptr_t
lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}

/* So that the library is linked: nothing else here needs it. */
bool (*volatile library)(void) = NoLeaks;

static int
exit_leaky(void)
{
	printf("kept in the buffer");
	lose();
	scrub_stack();
	return 0;
}

static int
exit_clean(void)
{
	printf("kept in the buffer");
	return 5;
}

static int
exit_unchecked(void)
{
	struct rlimit limit;

	exit_leaky();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 6;
}

static int
exit_unchecked_well(void)
{
	exit_unchecked();
	return 0;
}

static void
say_goodbye(void)
{
	printf(", goodbye");
}

static int
exit_with_handlers(void)
{
	atexit(say_goodbye);
	exit_leaky();
	exit(9);
}

/* Pointers in main()'s own frame, as at -O0. */
static int
exit_from_frame(void)
{
	void *volatile blocks[8];
	size_t i;

	for (i = 0; i < 8; i++)
		blocks[i] = malloc(24);
	for (i = 0; i < 8; i++)
		if (blocks[i] == NULL)
			abort();
	return 0;
}

static const struct scenario scenarios[] = {
	{ "exit_from_frame", exit_from_frame },
	{ "exit_leaky", exit_leaky },
	{ "exit_clean", exit_clean },
	{ "exit_unchecked", exit_unchecked },
	{ "exit_unchecked_well", exit_unchecked_well },
	{ "exit_with_handlers", exit_with_handlers },
	{ NULL, NULL },
};

START_TEST(at_exit_leaks)
{
	child_run(&child, "exit_leaky",
	    _i == 0 ? "at_exit=1" : "at_exit=1:exitcode=7");
	child_assert_exit(&child, _i == 0 ? 23 : 7);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(count_text(child.err_text, ONE_LEAK), 1);
	ck_assert_uint_eq(
	    count_text(child.err_text, "  24 bytes unreachable at "), 1);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 1);
}
END_TEST

/* exit() has its frames where main() had its own. */
START_TEST(at_exit_from_frame)
{
	child_run(&child, "exit_from_frame", "at_exit=1");
	child_assert_exit(&child, 23);
	ck_assert_uint_eq(
	    count_text(child.err_text, "192 bytes in 8 allocations unreach"),
	    1);
}
END_TEST

START_TEST(at_exit_clean)
{
	child_run(&child, "exit_clean", "at_exit=1");
	child_assert_exit(&child, 5);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(
	    count_text(child.err_text, "0 bytes in 0 allocations unreachable"),
	    1);
}
END_TEST

START_TEST(at_exit_unchecked)
{
	child_run(&child, "exit_unchecked", "at_exit=1");
	child_assert_exit(&child, 6);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(
	    count_text(child.err_text, "unreachable memory detection failed: "),
	    1);
}
END_TEST

START_TEST(at_exit_unchecked_is_not_clean)
{
	child_run(&child, "exit_unchecked_well",
	    _i == 0 ? "at_exit=1" : "at_exit=1:unchecked=ok");
	child_assert_exit(&child, _i == 0 ? 3 : 0);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
}
END_TEST

START_TEST(at_exit_after_handlers)
{
	child_run(&child, "exit_with_handlers", "at_exit=1");
	child_assert_exit(&child, 23);
	ck_assert_str_eq(child.out_text, "kept in the buffer, goodbye");
}
END_TEST

START_TEST(at_exit_unset)
{
	child_run(&child, "exit_leaky", _i == 0 ? NULL : "at_exit=0");
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_str_eq(child.err_text, "");
}
END_TEST

static Suite *
at_exit_suite(void)
{
	Suite *suite = suite_create("at_exit");
	TCase *tcase = tcase_create("at_exit");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, at_exit_leaks, 0, 2);
	tcase_add_test(tcase, at_exit_from_frame);
	tcase_add_test(tcase, at_exit_clean);
	tcase_add_test(tcase, at_exit_unchecked);
	tcase_add_loop_test(tcase, at_exit_unchecked_is_not_clean, 0, 2);
	tcase_add_test(tcase, at_exit_after_handlers);
	tcase_add_loop_test(tcase, at_exit_unset, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(int argc, char **argv)
{
	int failed = scenario_run(scenarios, argc, argv);

	if (failed >= 0)
		return failed;
	return suite_run(at_exit_suite());
}

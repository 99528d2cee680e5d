/*
 * A test program: one file with TESTs, or several; main() is in suite.c. Each
 * test runs in a separate process, in the order of the file.
 *
 *	TEST(name)
 *	{
 *		ck_assert(...);
 *	}
 *
 *	SUITE(.setup = begin, .teardown = end);
 *
 * A program without any test, on a CPU for which none is written, is skipped.
 */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

/* What most tests need. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of the tests of a file. */
struct suite {
	void (*setup)(void), (*teardown)(void); /* around each test */
	double timeout;                         /* of a test, s; 0: 240 */
	void (*begin)(void);                    /* before the first test */

	/*
	 * What its tests need and cannot be under a seccomp filter, as in a
	 * container: there the program is skipped.
	 */
	const char *unfiltered;

	/*
	 * For a program that starts itself: its exit status, or -1 to run the
	 * tests.
	 */
	int (*play)(int argc, char **argv);
};

/* An entry of a file: a test, or settings of the tests that follow. */
struct suite_line {
	const char *file;
	int line;
	const TTest *test;
	int from, to;
	const struct suite *suite;
	void (*setup)(void), (*teardown)(void);
	struct suite_line *next;
};

/* Calls no function of libc: it runs before main(). */
void suite_add(struct suite_line *line);

#define SUITE_ADD(name, number, ...)                                    \
	__attribute__((constructor)) static void suite_add_##name(void) \
	{                                                               \
		static struct suite_line entry;                         \
                                                                        \
		entry = (struct suite_line) {                           \
			.file = __FILE__, .line = (number), __VA_ARGS__ \
		};                                                      \
		suite_add(&entry);                                      \
	}

/* For member unfiltered. */
#define SUITE_INJECTS "a process that can be made to do system calls"

/* Once in a file, if it needs it: the members of struct suite. */
#define SUITE(...)                                                 \
	static const struct suite suite_of_file = { __VA_ARGS__ }; \
	SUITE_ADD(of_file, 0, .suite = &suite_of_file)             \
	struct suite

/* For each _i from FROM to TO - 1. */
#define TEST_LOOP(name_, from_, to_)                                      \
	static const TTest *name_;                                        \
	SUITE_ADD(                                                        \
	    name_, __LINE__, .test = name_, .from = (from_), .to = (to_)) \
	START_TEST(name_)

#define TEST(name_) TEST_LOOP(name_, 0, 1)

/* Around each test from here on, instead of what SUITE says; or NULL. */
#define CASE(name_, setup_, teardown_)                       \
	SUITE_ADD(case_##name_, __LINE__, .setup = (setup_), \
	    .teardown = (teardown_))                         \
	struct suite

/*
 * True under a seccomp filter, as in a container; true also if the filter does
 * not let us ask (SECCOMP_MODE_FILTER is 2).
 */
bool suite_is_filtered(void);

/*
 * How often a test waits for a rare moment: the number in the environment
 * variable ENVIRONMENT, or USUAL. "make check-races" gives larger ones.
 */
size_t suite_rounds(const char *environment, size_t usual);

/* Run SUITE as CK_VERBOSITY says; the program's exit status. */
static inline int
suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

/*
 * Run a program as a child and talk to it: by default this test program again,
 * with the name of a scenario as its argument, so that options are read and the
 * first allocations made as in any program, without check.
 */
#ifndef TESTS_SUPPORT_SCENARIO_H
#define TESTS_SUPPORT_SCENARIO_H

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCENARIO_TEXT ((size_t)1 << 18)

struct child {
	pid_t pid;
	int in, out, err; /* our ends; -1 = closed */
	char out_text[SCENARIO_TEXT], err_text[SCENARIO_TEXT];
	size_t out_length, err_length;
	int status; /* of waitpid() */
};

struct scenario {
	const char *name;
	int (*run)(void);
};

/* For main(): run the scenario that ARGV names. -1: there is none. */
int scenario_run(const struct scenario *scenarios, int argc, char **argv);

/* Instead of SUITE() in a test whose scenarios these are, with its members. */
#define SCENARIO_SUITE(scenarios_, ...)                      \
	static int play_scenarios(int argc, char **argv)     \
	{                                                    \
		return scenario_run(scenarios_, argc, argv); \
	}                                                    \
                                                             \
	SUITE(.play = play_scenarios, __VA_ARGS__)

/* Start ARGV with OPTIONS (NULL: none). */
void child_start_program(
    struct child *child, char *const *argv, const char *options);

void child_start(
    struct child *child, const char *scenario, const char *options);
void child_take(int *fd, char *text, size_t *length);
size_t count_text(const char *text, const char *needle);

/* The end of TEXT: check gives up at a message of 8192 bytes. */
const char *tail_of(const char *text);

/* Read until the child has written NEEDLE COUNT times to its TEXT. */
void child_await(
    struct child *child, const char *text, const char *needle, size_t count);

void child_say(struct child *child, const char *text);

/* Close its stdin, read the rest, reap it. */
void child_finish(struct child *child);

/* Run a scenario to its end. */
void child_run(struct child *child, const char *scenario, const char *options);

void child_assert_exit(const struct child *child, int expected);

/*
 * Does LINE look like PATTERN? '#' stands for a decimal number, '@' for a
 * lower-case hexadecimal one, '*' at the end for the rest of the line.
 */
bool line_is(const char *line, const char *pattern);

#endif

/*
 * A program whose first argument says what to do, and the second one what to
 * expect, or how many. Exit status 0, or the line of the failed check.
 */
#ifndef TESTS_RECORDER_STATEMENTS_PLAY_H
#define TESTS_RECORDER_STATEMENTS_PLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS(condition)                                                       \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(                                            \
			    stderr, "line %d: %s\n", __LINE__, #condition); \
			_Exit(1);                                           \
		}                                                           \
	} while (0)

/* The program has no dynamic symbols: its functions are told by place. */
#define PLACE 256
#define PLACED __attribute__((noinline, aligned(PLACE)))

static void *volatile kept[64];

PLACED static void *
allocate_here(size_t size)
{
	void *volatile block = malloc(size);

	return block;
}

struct play {
	const char *name;
	void (*play)(const char *argument);
};

static inline int
play(const struct play *plays, int argc, char **argv)
{
	for (; argc > 1 && plays->name != NULL; plays++) {
		if (strcmp(argv[1], plays->name) == 0) {
			plays->play(argc > 2 ? argv[2] : "");
			return 0;
		}
	}
	return 2;
}

#endif

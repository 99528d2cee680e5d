/*
 * What a pass must leave unchanged, as lines of text: descriptors, signal
 * dispositions, the alternate stack, mappings, and of every thread its masks
 * and its tracer. Two such texts are compared line by line.
 *
 * For victims, which are plain programs: no check here, and no malloc, so that
 * looking changes nothing.
 */
#ifndef TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_STATE_H
#define TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_STATE_H

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATE static __attribute__((noinline, unused))

#define STATE_TEXT ((size_t)1 << 20)

/* What of it is compared: storms change one or the other by themselves. */
enum state_part {
	STATE_FILES = 1,
	STATE_DISPOSITIONS = 2,
	STATE_THREADS = 4,
	STATE_MAPPINGS = 8,
	STATE_ALL = 15,
};

struct state {
	size_t length;
	bool full;
	char text[STATE_TEXT];
};

void state_look(struct state *state, int parts);

/* The first line that differs goes to WORDS; true if none does. */
bool state_same(
    const struct state *was, const struct state *is, char *words, size_t size);

#endif

/*
 * A program of the corpus tells what it lost and what it holds. Each line of
 * its output is "lost", "held" or "also", an address, and the name that a
 * report should have; "*" in a name stands for anything, "|" is between names
 * of which each is right. Those with "also" are names of blocks that only their
 * container knows. The output ends with "ready"; the program waits for the end
 * of its input.
 */
#ifndef TESTS_LIVE_COMMAND_TYPED_TYPED_H
#define TESTS_LIVE_COMMAND_TYPED_TYPED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define TOLD_MAX 4096

static struct {
	uintptr_t hidden;
	const char *what, *name;
} told[TOLD_MAX];
static size_t num_told;

static inline void
tell(const char *what, const void *block, const char *name)
{
	if (num_told == TOLD_MAX)
		abort();
	told[num_told].hidden = mu_hide(block);
	told[num_told].what = what;
	told[num_told++].name = name;
}

#define lost(block, name) tell("lost", block, name)
#define held(block, name) tell("held", block, name)
#define also(name) tell("also", NULL, name)

static inline int
stay(void)
{
	char byte;
	size_t i;

	scrub_stack();
	for (i = 0; i < num_told; i++)
		printf("%s 0x%lx %s\n", told[i].what,
		    (unsigned long)~told[i].hidden, told[i].name);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

#endif

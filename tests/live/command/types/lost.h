/*
 * A program that loses blocks and tells their types: each line of its output
 * is an address and the name that a report should have, or "?" for none. It
 * ends with "ready", and waits for the end of its input.
 */
#ifndef TESTS_LIVE_COMMAND_TYPES_LOST_H
#define TESTS_LIVE_COMMAND_TYPES_LOST_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define LOST_MAX 256

static struct {
	uintptr_t hidden;
	const char *name;
} lost[LOST_MAX];
static size_t num_lost;

static void
lose(const void *block, const char *name)
{
	lost[num_lost].hidden = mu_hide(block);
	lost[num_lost++].name = name;
}

/* With an argument the program ends instead of waiting. */
static int
tell_lost(int argc)
{
	char byte;
	size_t i;

	scrub_stack();
	for (i = 0; i < num_lost; i++)
		printf(
		    "0x%lx %s\n", (unsigned long)~lost[i].hidden, lost[i].name);
	puts("ready");
	fflush(stdout);
	while (argc == 1 && read(0, &byte, 1) > 0)
		continue;
	return 0;
}

#endif

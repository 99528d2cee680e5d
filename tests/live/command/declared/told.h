/*
 * A program that tells the types of blocks that it holds: each line of its
 * output is an address and the name that a report should have. It ends with
 * "ready", and waits for the end of its input.
 */
#ifndef TESTS_LIVE_COMMAND_DECLARED_TOLD_H
#define TESTS_LIVE_COMMAND_DECLARED_TOLD_H

#include <stdio.h>
#include <unistd.h>

static inline void *
told(void *block, const char *name)
{
	printf("0x%lx %s\n", (unsigned long)block, name);
	return block;
}

static inline void
stay(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}

#endif

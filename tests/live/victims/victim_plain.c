/*
 * A program that does not use the library: it loses one block of 24 bytes,
 * answers each line of its input, and ends with the status of its argument. It
 * needs no symbol of the library, so that --as-needed drops it; tests preload
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

static __attribute__((noinline)) uintptr_t
lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}

int
main(int argc, char **argv)
{
	uintptr_t hidden = argc > 2 ? 0 : lose();
	char line[128];

	scrub_stack();
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("served %s", line);
	/* Left in stdio's buffer for exit(). */
	printf("the end%s", hidden == 1 ? "?" : "");
	return argc > 1 ? atoi(argv[1]) : 0;
}

/*
 * A program without knowledge of recorders that loses two blocks: "join_leaky"
 * ends, "join_leaky wait" prints "ready" and waits for the end of its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void *
make(size_t size)
{
	void *block = malloc(size); /* MALLOC */

	memset(block, 'x', size);
	return block;
}

static __attribute__((noinline)) void
lose_small(void)
{
	free(make(40));
	make(24); /* SMALL */
	__asm__ volatile("");
}

static __attribute__((noinline)) void
lose_large(void)
{
	make(5000); /* LARGE */
	__asm__ volatile("");
}

/* Over what is left of addresses in dead frames. */
static __attribute__((noinline)) void
scrub(void)
{
	char dead[8192];

	memset(dead, 0, sizeof(dead));
	__asm__ volatile("" ::"r"(dead) : "memory");
}

int
main(int argc, char **argv)
{
	char c;

	lose_small();
	lose_large();
	scrub();
	if (argc < 2 || strcmp(argv[1], "wait") != 0)
		return 0;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		continue;
	return 0;
}

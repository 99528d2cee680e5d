/*
 * An allocator with a prefix, beside glibc's. With an argument it loses three
 * blocks of glibc's and four of the other, prints "ready" and waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *private_malloc(size_t);

static void *kept[20];

/* Slots that are used again hold no copy of an address. */
static __attribute__((noinline)) void
lose(void)
{
	size_t i;

	for (i = 0; i < 3; i++)
		memset(malloc(100), 0, 100);
	for (i = 0; i < 4; i++)
		memset(private_malloc(200), 0, 200);
	memset(kept[0], 0, 100);
	memset(kept[1], 0, 100);
}

static __attribute__((noinline)) void
scrub(void)
{
	volatile char stack[4096];
	size_t i;

	for (i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
}

int
main(int argc, char **argv)
{
	size_t i;

	(void)argv;
	for (i = 0; i < 10; i++) {
		kept[2 * i] = malloc(100);
		kept[2 * i + 1] = private_malloc(100);
	}
	if (argc > 1) {
		lose();
		scrub();
		printf("ready\n");
		fflush(stdout);
		getchar();
	}
	printf("the end\n");
	return 0;
}

/*
 * Loses ten blocks of 1000 bytes, keeps ten, and ends; whose malloc it calls is
 * a matter of how it is linked and started.
 *
 * Arguments: "mtrace" and "mcheck" call these first; "address" takes malloc's
 * address in a way that makes it that of a PLT entry in a program without PIC.
 */
#include <mcheck.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST 10
#define SIZE 1000

static void *(*const allocate)(size_t) = malloc;
static void *kept[LOST];

static __attribute__((noinline)) void
work(void)
{
	size_t i;

	for (i = 0; i < LOST; i++) {
		kept[i] = malloc(SIZE);
		memset(allocate(SIZE), 0, SIZE);
		memset(kept[i], 0, SIZE);
	}
	/* A slot that is used again holds no copy of an address. */
	for (i = 0; i < LOST; i++)
		free(allocate(SIZE));
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
	if (argc > 1 && strcmp(argv[1], "mtrace") == 0)
		mtrace();
	if (argc > 1 && strcmp(argv[1], "mcheck") == 0 && mcheck(NULL) != 0)
		return 3;
	work();
	scrub();
	printf("the end\n");
	return 0;
}

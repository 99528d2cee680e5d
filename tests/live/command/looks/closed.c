/*
 * Blocks of which the only pointers are in memory that was made inaccessible:
 * private, shared, write-only and execute-only; others are lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/support/hide.h"

#define SIZE ((size_t)1 << 16)

static volatile uintptr_t hidden;

static __attribute__((noinline)) void
hold(int prot, int flags)
{
	uintptr_t *words = mmap(
	    NULL, SIZE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		exit(1);
	words[700] = (uintptr_t)malloc(3000);
	if (mprotect(words, SIZE, prot) != 0)
		exit(1);
}

int
main(void)
{
	size_t i;

	hold(PROT_NONE, MAP_PRIVATE);
	hold(PROT_NONE, MAP_SHARED);
	hold(PROT_WRITE, MAP_PRIVATE);
	hold(PROT_EXEC, MAP_PRIVATE);
	for (i = 0; i < 10; i++)
		hidden = mu_hide(malloc(1000));
	scrub_stack();
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}

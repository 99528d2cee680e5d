/*
 * A program with blocks for the use_ options: 100 bytes that only a global
 * refers to, 200 that only an unaligned global refers to, 300 that only a
 * tagged pointer refers to. It waits to be checked, or ends by _exit().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

static void *volatile plain;
static char odd[32] __attribute__((aligned(16)));
static volatile uintptr_t tagged;

static __attribute__((noinline)) void
fill(void)
{
	void *block = malloc(200);

	plain = malloc(100);
	memcpy(odd + 3, &block, sizeof(block));
	__asm__ volatile("" : : "r"(odd) : "memory");
	tagged = (uintptr_t)malloc(300) | (uintptr_t)1 << 63;
}

int
main(int argc, char **argv)
{
	fill();
	scrub_stack();
	if (argc > 1 && strcmp(argv[1], "_exit") == 0)
		_exit(0);
	if (argc > 1)
		return 0;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

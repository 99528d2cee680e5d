/*
 * A program that loses blocks whose first words point to one of its functions,
 * so that a report looks up the name. It ends with its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

__attribute__((noinline)) int
pointed_here(int number)
{
	return number + 1;
}

static __attribute__((noinline)) uintptr_t
lose(void)
{
	uintptr_t *block = calloc(1, 40);

	block[0] = (uintptr_t)pointed_here;
	block[1] = (uintptr_t)strlen; /* of another file */
	return mu_hide(block);
}

int
main(void)
{
	uintptr_t hidden = lose();
	char byte;

	scrub_stack();
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return pointed_here(-1) + (hidden == 1);
}

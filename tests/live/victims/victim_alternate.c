/*
 * A program that sets an alternate signal stack, but does not import
 * sigaltstack(): it gets the address from the dynamic linker. It has lost one
 * block of 40 bytes and nothing else.
 *
 * Usage: victim_alternate. It prints "ready PID", waits for the end of its
 * input, and ends with 0.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define ALTERNATE 47816

static uintptr_t lost;

static __attribute__((noinline)) void
set_alternate(void)
{
	int (*set)(const stack_t *, stack_t *);
	stack_t stack = { .ss_size = ALTERNATE };

	*(void **)&set = dlsym(RTLD_DEFAULT, "sigaltstack");
	stack.ss_sp = malloc(ALTERNATE);
	if (set == NULL || set(&stack, NULL) != 0)
		abort();
	memset(&stack, 0, sizeof(stack));
	__asm__ volatile("" : : "r"(&stack) : "memory");
}

int
main(void)
{
	char byte;

	setvbuf(stdout, NULL, _IONBF, 0);
	lost = mu_hide(memset(malloc(40), 'x', 40));
	set_alternate();
	scrub_stack();
	printf("ready %d\n", (int)getpid());
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

/*
 * A program two of whose threads have alternate signal stacks, but that does
 * not import sigaltstack(): it gets the address from the dynamic linker, or
 * uses syscall(). It has lost one block of 40 bytes and nothing else.
 *
 * Usage: victim_alternate {dlsym|syscall}. It prints "ready PID", waits for the
 * end of its input, and ends with 0.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define ALTERNATE 47816

static int (*set_stack)(const stack_t *, stack_t *);
static pthread_barrier_t ready;
static uintptr_t lost;

static int
set_by_call(const stack_t *stack, stack_t *old)
{
	return (int)syscall(SYS_sigaltstack, stack, old);
}

static __attribute__((noinline)) void
set_alternate(void)
{
	stack_t stack = { .ss_size = ALTERNATE };

	stack.ss_sp = malloc(ALTERNATE);
	if (set_stack == NULL || set_stack(&stack, NULL) != 0)
		abort();
	memset(&stack, 0, sizeof(stack));
	__asm__ volatile("" : : "r"(&stack) : "memory");
}

static void *
wait_on_alternate(void *arg)
{
	set_alternate();
	scrub_stack();
	pthread_barrier_wait(&ready);
	pause();
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	char byte;

	if (argc == 2 && strcmp(argv[1], "syscall") == 0)
		set_stack = set_by_call;
	else
		*(void **)&set_stack = dlsym(RTLD_DEFAULT, "sigaltstack");
	setvbuf(stdout, NULL, _IONBF, 0);
	pthread_barrier_init(&ready, NULL, 2);
	lost = mu_hide(memset(malloc(40), 'x', 40));
	if (pthread_create(&thread, NULL, wait_on_alternate, NULL) != 0)
		return 1;
	pthread_barrier_wait(&ready);
	set_alternate();
	scrub_stack();
	printf("ready %d\n", (int)getpid());
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

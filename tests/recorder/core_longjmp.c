/*
 * Signal handlers that leave the recorder by siglongjmp(), and stacks that
 * overflow in it: later allocations are recorded as before.
 *
 * core_longjmp signals|stack
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tests/recorder/recorded_read.h"

#define SIGNALS 200
#define SIGNALS_SEEN 4000 /* a good second */

static sigjmp_buf back;
static uintptr_t code_begin, code_end;
static volatile sig_atomic_t jumps, seen;

/* The code of the recorder. */
static int
find_code(struct dl_phdr_info *object, size_t size, void *unused)
{
	uintptr_t word = (uintptr_t)recorded(), begin;
	int i, holds = 0;

	(void)size;
	(void)unused;
	for (i = 0; i < object->dlpi_phnum; i++) {
		begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		if (object->dlpi_phdr[i].p_type == PT_LOAD)
			holds |= word - begin < object->dlpi_phdr[i].p_memsz;
	}
	for (i = 0; holds && i < object->dlpi_phnum; i++) {
		begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    (object->dlpi_phdr[i].p_flags & PF_X) != 0) {
			code_begin = begin;
			code_end = begin + object->dlpi_phdr[i].p_memsz;
		}
	}
	return holds;
}

static uintptr_t
pc_of(void *context)
{
#if defined(__x86_64__)
	return (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	uintptr_t pc = pc_of(context);

	(void)signo;
	(void)info;
	seen++;
	/* Elsewhere it may hold a lock of libc's. */
	if (pc >= code_begin && pc < code_end) {
		jumps++;
		siglongjmp(back, 1);
	}
}

/* How many of 100 blocks that are allocated far below are recorded. */
static __attribute__((noinline)) int
blocks_seen(int depth)
{
	volatile char room[512];
	void *block;
	int i, count = 0;

	memset((void *)room, depth, sizeof(room));
	if (depth > 0)
		return blocks_seen(depth - 1) + (room[7] == 77);
	for (i = 0; i < 100; i++) {
		block = malloc(24);
		count += recorded_first(block) != 0;
		free(block);
	}
	return count;
}

static void catch (int signo, int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | flags;
	sigaction(signo, &action, NULL);
}

static int
play_signals(void)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	void *volatile block = NULL;
	volatile int bad = 0;
	int count;

	catch (SIGALRM, 0);
	while (jumps < SIGNALS && seen < SIGNALS_SEEN) {
		if (sigsetjmp(back, 1) != 0) {
			setitimer(ITIMER_REAL, &never, NULL);
			count = blocks_seen(jumps % 20);
			if (count != 100 && bad++ < 5)
				fprintf(stderr, "jump %d: %d of 100\n",
				    (int)jumps, count);
		}
		setitimer(ITIMER_REAL, &often, NULL);
		while (jumps < SIGNALS && seen < SIGNALS_SEEN) {
			block = malloc(24);
			free(block);
			block = calloc(3, 100);
			block = realloc(block, 700);
			free(block);
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	count = blocks_seen(0);
	printf("%d jumps, %d of 100 recorded\n", (int)jumps, count);
	return jumps == 0 ? 77 : bad * 10 > jumps || count != 100;
}

/* Down to the guard page, SIZE bytes a step. */
static __attribute__((noinline)) int
dive(size_t size)
{
	volatile char room[size];
	void *block;

	room[0] = room[size - 1] = 1;
	block = malloc(40);
	free(block);
	/* A condition, or the compiler warns: it does end, by a signal. */
	return room[0] == 0 ? 0 : dive(size) + room[0];
}

static void *
drown(void *argument)
{
	static char other_stack[4][65536];
	static volatile int next;
	stack_t stack = { .ss_sp = other_stack[next++ % 4],
		.ss_size = sizeof(other_stack[0]) };
	volatile size_t size;
	int *bad = argument, count;

	sigaltstack(&stack, NULL);
	for (size = 16; size < 3000; size += 16) {
		if (sigsetjmp(back, 1) == 0)
			dive(size);
		count = blocks_seen((int)(size / 16 % 10));
		if (count != 100 && (*bad)++ < 5)
			fprintf(stderr, "size %zu: %d of 100\n", size, count);
	}
	return NULL;
}

/* Also outside of the recorder, where no lock is held. */
static void
on_end(int signo, siginfo_t *info, void *context)
{
	Dl_info module;

	(void)signo;
	(void)info;
	if (dladdr((void *)pc_of(context), &module) != 0 &&
	    strstr(module.dli_fname, "libc.so") != NULL)
		_Exit(0); /* in the middle of the real malloc: no verdict */
	jumps++;
	siglongjmp(back, 1);
}

static int
play_stack(void)
{
	struct sigaction action;
	pthread_attr_t attributes;
	pthread_t thread;
	int bad = 0;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_end;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGSEGV, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 131072);
	pthread_create(&thread, &attributes, drown, &bad);
	pthread_join(thread, NULL);
	printf("%d ends of the stack, %d bad\n", (int)jumps, bad);
	return jumps < 100 || bad * 10 > jumps;
}

int
main(int argc, char **argv)
{
	if (argc < 2 || recorded() == NULL ||
	    dl_iterate_phdr(find_code, NULL) == 0)
		return 2;
	return strcmp(argv[1], "stack") == 0 ? play_stack() : play_signals();
}

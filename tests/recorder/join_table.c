/*
 * A program that has a recorder's tables, as if a recorder were linked into it:
 * it loses blocks in two ways, has freed one that is held back, prints "ready"
 * and waits for the end of its input. "join_table log" logs a pass instead.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/heaps/fake_recorder.h"

#define FIRST_SIZE 1000
#define SECOND_SIZE 2000
#define HELD_SIZE 30000
#define TIMES 5

static struct fake_recorder fake;

/* The symbol that the library looks for; the command finds it by its magic. */
struct mu_recorded memunreachable_recorded
    __attribute__((visibility("default")));

static uintptr_t outer;

static inline __attribute__((always_inline)) uintptr_t
here(void)
{
	uintptr_t pc;

#if defined(__x86_64__)
	__asm__ volatile("lea -1(%%rip), %0" : "=r"(pc)); /* HERE */
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, ." : "=r"(pc));
#endif
	return pc;
}

static __attribute__((noinline)) void
lose(size_t size, uintptr_t pc, bool freed)
{
	uintptr_t frames[2] = { pc, outer };
	char *block = malloc(size);

	memset(block, 0, size);
	fake_recorder_block(
	    &fake, block, size, fake_recorder_stack(&fake, frames, 2), freed);
	memunreachable_recorded = fake.header;
}

static inline __attribute__((always_inline)) uintptr_t
inner(void)
{
	return here(); /* INNER */
}

static __attribute__((noinline)) void
lose_first(void)
{
	lose(FIRST_SIZE, inner(), false); /* INTO */
}

static __attribute__((noinline)) void
lose_second(void)
{
	uintptr_t pc = here(); /* SECOND */

	lose(SECOND_SIZE, pc, false);
}

static __attribute__((noinline)) void
lose_all(void)
{
	int i;

	outer = here(); /* OUTER */
	for (i = 0; i < TIMES; i++) {
		lose_first();
		lose_second();
	}
	lose(HELD_SIZE, outer, true);
}

/* Over what is left of addresses in dead frames. */
static __attribute__((noinline)) void
scrub(void)
{
	char dead[4096];

	memset(dead, 0, sizeof(dead));
	__asm__ volatile("" ::"r"(dead) : "memory");
}

int
main(int argc, char **argv)
{
	bool (*log_pass)(bool, size_t);
	char c;

	fake_recorder_open(&fake);
	lose_all();
	scrub();
	if (argc > 1 && strcmp(argv[1], "log") == 0) {
		*(void **)&log_pass =
		    dlsym(RTLD_DEFAULT, "LogUnreachableMemory");
		return log_pass == NULL || !log_pass(false, 100);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		continue;
	return 0;
}

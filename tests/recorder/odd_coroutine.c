/*
 * The stack of a coroutine is unmapped and replaced by a smaller one with
 * nothing above it: what the recorder knew of the pages of the first one no
 * longer holds.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096
#define LARGE (16 * PAGE)
#define SMALL (4 * PAGE)
#define AROUND (1 << 19) /* not accessible, on either side */

static ucontext_t outside, inside;
static size_t padding;

static __attribute__((noinline)) void
allocate(void)
{
	void *volatile block = malloc(100);

	free(block);
}

static __attribute__((noinline)) void
deep(void)
{
	volatile char *frame = alloca(padding);

	frame[0] = 1;
	allocate();
	frame[0] = 2;
}

static void
body(void)
{
	deep();
	deep();
	swapcontext(&inside, &outside);
}

static void
run(char *stack, size_t size, size_t pad)
{
	padding = pad;
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	swapcontext(&outside, &inside);
}

static char *
map(char *at, size_t size)
{
	if (mmap(at, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		exit(2);
	return at;
}

int
main(void)
{
	char *base = mmap(NULL, 2 * AROUND + LARGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack;
	int i;

	if (base == MAP_FAILED)
		return 2;
	for (i = 0; i < 3; i++) {
		stack = map(base + AROUND, LARGE);
		run(stack, LARGE, 5 * PAGE);
		run(stack, LARGE, 64);
		munmap(stack, LARGE);
		stack = map(base + AROUND + LARGE - 2 * SMALL, SMALL);
		run(stack, SMALL, 64);
		run(stack, SMALL, PAGE);
		munmap(stack, SMALL);
	}
	return 0;
}

/*
 * Compiled by musl-gcc. Threads allocate and free at random, and record what is
 * in use in a table of encoded addresses, so that a search finds all of it
 * unreachable. The table is then printed: address and asked size of each block.
 *
 *	recorded SEED THREADS OPERATIONS: print, then wait
 *	recorded SEED THREADS 0: all blocks stay reachable, and threads go on
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1000 /* of each thread */
#define MAX_THREADS 64
#define KEY 0x5555555555555555ull

struct slot {
	uint64_t hidden; /* KEY: free */
	size_t size;
};

static struct slot slots[MAX_THREADS][SLOTS];
static void *volatile shown[MAX_THREADS][SLOTS]; /* if they stay reachable */
static unsigned seed;
static size_t operations;
static volatile int done, go_on;

static size_t
random_size(unsigned *state)
{
	static const size_t most[] = { 0, 16, 100, 100, 500, 2000, 10000,
		150000, 1 << 23 };
	unsigned kind = (unsigned)rand_r(state) % 100;

	if (kind == 99)
		return (size_t)rand_r(state) % most[8];
	return (size_t)rand_r(state) % (most[kind % 8] + 1);
}

static void *
reveal(const struct slot *slot)
{
	return (void *)(slot->hidden ^ KEY);
}

static __attribute__((noinline)) void
operate(unsigned thread, unsigned *state)
{
	unsigned which = (unsigned)rand_r(state) % SLOTS;
	struct slot *slot = &slots[thread][which];
	size_t size = random_size(state);
	unsigned how = (unsigned)rand_r(state) % 8;
	void *old = reveal(slot), *new;

	if (how < 3 || (how > 4 && old != NULL)) {
		shown[thread][which] = NULL;
		free(old);
		slot->hidden = KEY;
		slot->size = 0;
		return;
	}
	if (how == 3) {
		new = realloc(old, size + 1);
		size++;
	} else if (old != NULL) {
		return;
	} else if (how == 4) {
		new = calloc(1, size);
	} else if (how == 5) {
		new = aligned_alloc((size_t)16 << rand_r(state) % 18, size);
	} else {
		new = malloc(size);
	}
	if (new == NULL)
		return;
	if (size > 0)
		memset(new, 0, size < 64 ? size : 64);
	slot->hidden = (uintptr_t) new ^ KEY;
	slot->size = size;
	if (operations == 0)
		shown[thread][which] = new;
}

/* Overwrite what calls have left on the stack and in registers. */
static __attribute__((noinline)) void
scrub(void)
{
	char bytes[65536];

	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" ::"r"(bytes) : "memory");
#ifdef __x86_64__
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1;"
			 "pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3;"
			 "pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5;"
			 "pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7;"
			 "xor %%ecx, %%ecx; xor %%edx, %%edx; xor %%esi, %%esi;"
			 "xor %%edi, %%edi; xor %%r8d, %%r8d; xor %%r9d, %%r9d;"
			 "xor %%r10d, %%r10d; xor %%r11d, %%r11d" ::
			     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			 "xmm6", "xmm7", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
			 "r10", "r11");
#endif
}

static void *
run(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg, state = seed * 97 + thread;
	size_t i;

	for (i = 0; operations == 0 || i < operations; i++)
		operate(thread, &state);
	scrub();
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	/* Every second thread ends. */
	while (thread % 2 == 1)
		pause();
	return NULL;
}

static __attribute__((noinline)) void
print(unsigned threads)
{
	static char line[64];
	unsigned i, j, n;

	for (i = 0; i < threads; i++)
		for (j = 0; j < SLOTS; j++)
			if (slots[i][j].hidden != KEY) {
				n = (unsigned)snprintf(line, sizeof(line),
				    "%lx %zu\n", (long)reveal(&slots[i][j]),
				    slots[i][j].size);
				write(1, line, n);
			}
	memset(line, 0, sizeof(line));
}

static __attribute__((noinline)) void
start(unsigned threads)
{
	pthread_t ids[MAX_THREADS];
	unsigned i;

	for (i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, run, (void *)(uintptr_t)i);
	while (done < (int)threads)
		usleep(1000);
	for (i = 0; i < threads; i += 2)
		pthread_join(ids[i], NULL);
	memset(ids, 0, sizeof(ids));
}

int
main(int argc, char **argv)
{
	unsigned i, j, threads = (unsigned)atoi(argv[2]);

	(void)argc;
	seed = (unsigned)atoi(argv[1]);
	operations = (size_t)atol(argv[3]);
	for (i = 0; i < MAX_THREADS; i++)
		for (j = 0; j < SLOTS; j++)
			slots[i][j].hidden = KEY;
	if (operations == 0)
		write(1, "ready\n", 6);
	start(threads);
	print(threads);
	scrub();
	write(1, "ready\n", 6);
	pause();
}

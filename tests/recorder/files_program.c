/*
 * A program that calls the recorder, and one that does not know it: its first
 * argument chooses. Exit status 0, or the line of the failed check.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memunreachable/malloc_debug.h"

#pragma weak get_malloc_leak_info
#pragma weak free_malloc_leak_info
#pragma weak write_malloc_leak_info
#pragma weak malloc_backtrace
#pragma weak malloc_iterate
#pragma weak malloc_disable
#pragma weak malloc_enable
#pragma weak memunreachable_set_malloc_hook
#pragma weak memunreachable_set_realloc_hook
#pragma weak memunreachable_set_free_hook
#pragma weak memunreachable_set_memalign_hook

#define IS(condition)                                                       \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(                                            \
			    stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1);                                            \
		}                                                           \
	} while (0)

static void *volatile kept[100];
static size_t kept_count;

/* The program has no dynamic symbols: its functions are told by place. */
#define PLACE 256
#define PLACED __attribute__((noinline, aligned(PLACE)))

PLACED static void
lose_some(size_t size)
{
	kept[kept_count++] = malloc(size);
	__asm__ volatile("" ::: "memory");
}

PLACED static void
lose_others(size_t size)
{
	kept[kept_count++] = malloc(size);
	__asm__ volatile("" ::: "memory");
}

/* A, B, A, B: 3 of each, of 4242 bytes; they stay. */
/* The loop must not be unrolled: one stack for all three. */
static void
lose(void)
{
	static volatile int rounds = 3;
	int i;

	for (i = 0; i < rounds; i++) {
		lose_some(4242);
		lose_others(4242);
	}
}

/* Until it is killed: no allocation, no call that returns. */
static void
idle(void)
{
	static const char ready[] = "ready\n";

	lose();
	if (write(1, ready, sizeof(ready) - 1) > 0)
		for (;;)
			pause();
}

static bool
is_in(uintptr_t pc, void (*function)(size_t size))
{
	return pc - (uintptr_t)function < PLACE;
}

/* Records of SIZE, and whether their innermost frames are as they should be. */
static void
leak_info(void)
{
	size_t overall, record, total, frames, i, some = 0, others = 0;
	const uintptr_t *words;
	uint8_t *info;

	lose();
	get_malloc_leak_info(&info, &overall, &record, &total, &frames);
	IS(info != NULL && frames == 16);
	IS(record == (2 + frames) * sizeof(uintptr_t));
	for (i = 0; i < overall / record; i++) {
		words = (const uintptr_t *)(info + i * record);
		if (words[0] != 4242)
			continue;
		IS(words[1] == 3);
		some += is_in(words[2], lose_some);
		others += is_in(words[2], lose_others);
	}
	IS(some == 1 && others == 1);
	free_malloc_leak_info(info);
}

static void
leak_info_disabled(void)
{
	size_t overall = 1, record = 1, total = 1, frames = 1;
	uint8_t *info = (uint8_t *)1;
	uintptr_t pcs[4];

	lose();
	get_malloc_leak_info(&info, &overall, &record, &total, &frames);
	IS(info == NULL && overall + record + total + frames == 0);
	IS(malloc_backtrace(kept[0], pcs, 4) == 0);
	errno = 0;
	IS(!write_malloc_leak_info(stdout) && errno == ENOTSUP);
}

static void
backtrace(void)
{
	uintptr_t pcs[32] = { 0 };

	lose();
	IS(malloc_backtrace(kept[0], pcs, 32) >= 3);
	IS(is_in(pcs[0], lose_some));
	IS(malloc_backtrace(kept[1], pcs, 1) == 1);
	IS(is_in(pcs[0], lose_others));
	IS(malloc_backtrace((char *)kept[0] + 16, pcs, 32) == 0);
	free(kept[0]);
	IS(malloc_backtrace(kept[0], pcs, 32) == 0);
}

static size_t seen;

static void
see(uintptr_t base, size_t size, void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < kept_count; i++) {
		if ((uintptr_t)kept[i] != base)
			continue;
		seen++;
		IS(size == malloc_usable_size(kept[i]));
	}
	free(malloc(100));
}

static void
iterate(void)
{
	lose();
	malloc_disable();
	IS(malloc_iterate(0, SIZE_MAX, see, NULL) == 0);
	malloc_enable();
	IS(seen == 6);
	seen = 0;
	IS(malloc_iterate((uintptr_t)kept[3], 1, see, NULL) == 0);
	IS(seen == 1);
}

static int stop, rounds[4];

static void *
churn(void *arg)
{
	int *mine = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		free(malloc(64));
		__atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int
all_rounds(void)
{
	int i, sum = 0;

	for (i = 0; i < 4; i++)
		sum += __atomic_load_n(&rounds[i], __ATOMIC_RELAXED);
	return sum;
}

static void
disable(void)
{
	pthread_t threads[4];
	int i, before, n;

	for (i = 0; i < 4; i++)
		IS(pthread_create(&threads[i], NULL, churn, &rounds[i]) == 0);
	for (n = 0; n < 20; n++) {
		while (all_rounds() < 1000 * (n + 1))
			usleep(1000);
		malloc_disable();
		before = all_rounds();
		free(malloc(100));
		usleep(20000);
		/* One round of each thread may have been in progress. */
		IS(all_rounds() <= before + 4);
		malloc_enable();
	}
	/* A fork while another thread has it closed, and by oneself. */
	malloc_disable();
	if (fork() == 0) {
		free(malloc(100));
		malloc_enable();
		_exit(0);
	}
	malloc_enable();
	IS(wait(&i) > 0 && i == 0);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void *
thread_with_blocks(void *arg)
{
	free(malloc(777));
	return arg;
}

/* The journal must show these in this order; others may be between. */
static void
operations(void)
{
	void *volatile block;
	pthread_t thread;

	block = malloc(1111);
	block = realloc(block, 2222);
	free(block);
	block = calloc(3, 333);
	free(block);
	block = memalign(64, 444);
	free(block);
	if (posix_memalign((void **)&block, 128, 555) != 0)
		exit(1);
	free(block);
	block = aligned_alloc(256, 768);
	free(block);
	block = malloc(SIZE_MAX / 2); /* fails */
	block = realloc(malloc(999), 0);
	free(NULL);
	pthread_create(&thread, NULL, thread_with_blocks, NULL);
	pthread_join(thread, NULL);
}

static int forks;

/* Both lose; then idle. The parent's first word is the child's id. */
static void
fork_and_idle(void)
{
	pid_t child;
	char line[32];

	lose();
	child = fork();
	if (child == 0) {
		lose_some(5555);
		for (;;)
			pause();
	}
	forks++;
	usleep(100000);
	snprintf(line, sizeof(line), "%d\n", (int)child);
	if (write(1, line, strlen(line)) > 0)
		for (;;)
			pause();
}

static memunreachable_malloc_hook next_malloc;
static memunreachable_free_hook next_free;
static memunreachable_realloc_hook next_realloc;
static memunreachable_memalign_hook next_memalign;
/*
 * Volatile: the compiler assumes that malloc() calls no function of the
 * program.
 */
static volatile size_t hooked[4];
static const void *volatile hook_caller;

static void *
on_malloc(size_t size, const void *caller)
{
	void *result = next_malloc(size, caller);

	hooked[0]++;
	hook_caller = caller;
	printf("malloc(%zu)\n", size); /* Recurses in the original */
	return result;
}

static void
on_free(void *pointer, const void *caller)
{
	hooked[1]++;
	next_free(pointer, caller);
}

static void *
on_realloc(void *pointer, size_t size, const void *caller)
{
	hooked[2]++;
	return next_realloc(pointer, size, caller);
}

static void *
on_memalign(size_t alignment, size_t size, const void *caller)
{
	hooked[3]++;
	return next_memalign(alignment, size, caller);
}

PLACED static void
allocate_hooked(size_t size)
{
	kept[0] = malloc(size);
	__asm__ volatile("" ::: "memory");
}

static void
hooks(size_t expected)
{
	void *pointer = NULL;
	size_t before;

	next_malloc = memunreachable_set_malloc_hook(on_malloc);
	next_free = memunreachable_set_free_hook(on_free);
	next_realloc = memunreachable_set_realloc_hook(on_realloc);
	next_memalign = memunreachable_set_memalign_hook(on_memalign);
	allocate_hooked(10);
	IS(hooked[0] == expected);
	IS(expected == 0 || is_in((uintptr_t)hook_caller - 1, allocate_hooked));
	kept[0] = realloc(kept[0], 100);
	IS(hooked[2] == expected);
	free(kept[0]);
	IS(hooked[1] == expected);
	kept[0] = calloc(5, 5);
	IS(hooked[0] == 2 * expected && ((char *)kept[0])[24] == 0);
	free(kept[0]);
	kept[0] = memalign(64, 64);
	free(kept[0]);
	IS(posix_memalign(&pointer, 64, 64) == 0);
	free(pointer);
	IS(posix_memalign(&pointer, 3, 64) == EINVAL);
	kept[0] = aligned_alloc(64, 64);
	free(kept[0]);
	kept[0] = valloc(64);
	IS((uintptr_t)kept[0] % (uintptr_t)getpagesize() == 0);
	free(kept[0]);
	kept[0] = pvalloc(64);
	free(kept[0]);
	IS(hooked[3] == 5 * expected);
	before = hooked[0];
	kept[0] = reallocarray(NULL, 3, 5);
	IS(hooked[2] == 2 * expected && hooked[0] == before);
	IS(malloc_usable_size(kept[0]) >= 15);
	memunreachable_set_malloc_hook(NULL);
	before = hooked[0];
	allocate_hooked(10);
	IS(hooked[0] == before);
}

/* KiB of huge pages that the process has. */
static size_t
huge_pages(void)
{
	FILE *rollup = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	size_t size = 0;

	while (rollup != NULL && fgets(line, sizeof(line), rollup) != NULL)
		sscanf(line, "AnonHugePages: %zu kB", &size);
	if (rollup != NULL)
		fclose(rollup);
	return size;
}

static void
many_operations(void)
{
	size_t i;

	for (i = 0; i < 1000000; i++)
		free(malloc(100));
	printf("%zu\n", huge_pages());
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "lose") == 0)
		lose();
	else if (strcmp(what, "idle") == 0)
		idle();
	else if (strcmp(what, "leak-info") == 0)
		leak_info();
	else if (strcmp(what, "disabled") == 0)
		leak_info_disabled();
	else if (strcmp(what, "backtrace") == 0)
		backtrace();
	else if (strcmp(what, "iterate") == 0)
		iterate();
	else if (strcmp(what, "disable") == 0)
		disable();
	else if (strcmp(what, "operations") == 0)
		operations();
	else if (strcmp(what, "many-operations") == 0)
		many_operations();
	else if (strcmp(what, "fork") == 0)
		fork_and_idle();
	else if (strcmp(what, "hooks") == 0)
		hooks(1);
	else if (strcmp(what, "hooks-off") == 0)
		hooks(0);
	else
		return 2;
	return 0;
}

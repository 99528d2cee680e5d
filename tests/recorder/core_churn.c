/*
 * Threads that allocate, hand over, resize and free, and child processes that
 * continue: at rest the recorder has exactly the blocks of the model.
 *
 * core_churn [SECONDS [THREADS]]
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/recorder/recorded_read.h"

#define SLOTS 4096
#define THREADS_MOST 16

struct slot {
	unsigned char *block;
	size_t size;
};

/*
 * A slot belongs to the thread that swaps it out: blocks are freed by other
 * threads.
 */
static struct slot *slots[SLOTS];
static struct slot pool[SLOTS * 2];
static int stop, failures;

static void
fail(const char *what, const void *block, size_t size)
{
	fprintf(stderr, "%s: %p %zu\n", what, block, size);
	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

static size_t
next_random(unsigned long long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (size_t)(*state >> 11);
}

static void
mark(struct slot *slot)
{
	slot->block[0] = (unsigned char)slot->size;
	slot->block[slot->size - 1] = (unsigned char)slot->size;
}

static void
check_block(const struct slot *slot)
{
	if (slot->block[0] != (unsigned char)slot->size ||
	    slot->block[slot->size - 1] != (unsigned char)slot->size)
		fail("damaged", slot->block, slot->size);
	if (recorded_first(slot->block) == 0)
		fail("not recorded", slot->block, slot->size);
	else if (recorded_size(slot->block) != slot->size)
		fail("other size", slot->block, recorded_size(slot->block));
}

static void
fill_slot(struct slot *slot, unsigned long long *state)
{
	size_t r = next_random(state), size = 1 + r % 500;

	if (r % 64 == 0)
		size = 1 + r % 300000;
	if (r % 7 == 0)
		slot->block = calloc(1, size);
	else if (r % 11 == 0)
		slot->block = memalign((size_t)16 << r % 8, size);
	else
		slot->block = malloc(size);
	slot->size = size;
	mark(slot);
}

static void
step(struct slot *slot, unsigned long long *state)
{
	size_t r = next_random(state);

	if (slot->block == NULL) {
		fill_slot(slot, state);
		return;
	}
	check_block(slot);
	if (r % 3 == 0) {
		slot->size = 1 + r % 2000;
		slot->block = realloc(slot->block, slot->size);
		mark(slot);
	} else {
		free(slot->block);
		slot->block = NULL;
	}
}

static void *
churn(void *argument)
{
	unsigned long long state = 88172645463325252ull ^
	    (unsigned long long)(uintptr_t)argument << 32;
	struct slot *mine = &pool[SLOTS + (size_t)(uintptr_t)argument];
	size_t i;

	for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		mine = __atomic_exchange_n(&slots[next_random(&state) % SLOTS],
		    mine, __ATOMIC_ACQ_REL);
		step(mine, &state);
		if (i % 5000 == 0)
			free(strdup("thread"));
	}
	return mine;
}

/* Every word there is: those of the model, and no more than OTHERS. */
static size_t
count_words(void)
{
	const struct mu_recorded *all = recorded();
	const uint64_t *directory = (const uint64_t *)(uintptr_t)all->directory;
	uint64_t base;
	size_t i, count = 0;
	const uint32_t *span;

	for (base = all->lowest; base < all->highest;
	     base += (uint64_t)1 << MU_SHADOW_SPAN_SHIFT) {
		span = (const uint32_t *)(uintptr_t)
		    directory[base >> MU_SHADOW_SPAN_SHIFT];
		for (i = 0; span != NULL && i < MU_SHADOW_WORDS; i++)
			count += (span[i] & MU_SHADOW_START) != 0 &&
			    (span[i] & MU_SHADOW_FREED) == 0;
	}
	return count;
}

static size_t
check_all(void)
{
	size_t i, live = 0;

	for (i = 0; i < SLOTS * 2; i++) {
		if (pool[i].block != NULL) {
			check_block(&pool[i]);
			live++;
		}
	}
	return live;
}

static void
rounds(size_t threads, double seconds, size_t others)
{
	struct timespec nap = { (time_t)seconds,
		(long)((seconds - (double)(time_t)seconds) * 1e9) };
	pthread_t ids[THREADS_MOST];
	size_t i, live, words;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, churn, (void *)(i + 1));
	nanosleep(&nap, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	live = check_all();
	words = count_words();
	/* libc keeps a TLS vector for each stack that it keeps. */
	if (words < live + others || words > live + others + 2 * threads)
		fail("words", (void *)words, live + others);
}

int
main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
	size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 4, i, others;
	int status = 0;
	pid_t child;

	if (threads > THREADS_MOST)
		threads = THREADS_MOST;
	for (i = 0; i < SLOTS; i++)
		slots[i] = &pool[i];
	others = count_words();
	/* The stragglers of an earlier round have slots of their own. */
	rounds(threads, seconds, others);
	child = fork();
	if (child == 0) {
		for (i = 0; i < SLOTS; i++)
			slots[i] = &pool[i];
		for (i = 0; i < SLOTS; i++) {
			free(pool[SLOTS + i].block);
			pool[SLOTS + i].block = NULL;
		}
		rounds(threads, seconds / 2, others);
		_exit(failures == 0 ? 0 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("child", NULL, (size_t)status);
	check_all();
	return failures == 0 ? 0 : 1;
}

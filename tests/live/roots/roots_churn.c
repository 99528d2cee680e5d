/*
 * Roots while threads start and end all the time, also during the pass: every
 * block is in use as a start argument or a result of a thread, and only the one
 * that was lost on purpose is reported.
 *
 * That the listing of threads is repeated until it shows nothing new is tested
 * by its steps in test_thread_capture.c.
 */
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define CREATORS 3
#define PASSES 150

struct creator {
	pthread_t thread;
	bool stop;
	unsigned long born;
};

/* A size that no block of struct pthread has. */
#define BLOCK_SIZE 600

static __attribute__((noinline)) void *
new_block(void)
{
	char *block = malloc(BLOCK_SIZE);

	if (block == NULL)
		abort();
	memset(block, 'b', BLOCK_SIZE);
	return block;
}

/* The argument is this thread's only; what it returns is its joiner's. */
static void *
exchange(void *arg)
{
	char *block = arg;

	if (block[0] != 'b' || block[BLOCK_SIZE - 1] != 'b')
		abort();
	free(block);
	return new_block();
}

/* pthread_exit() instead of return. */
static void *
exchange_and_exit(void *arg)
{
	pthread_exit(exchange(arg));
}

static void *
exchange_detached(void *arg)
{
	free(exchange(arg));
	return NULL;
}

static void
start_detached(pthread_attr_t *detached)
{
	pthread_t thread;
	void *block = new_block();

	if (pthread_create(&thread, detached, exchange_detached, block) != 0)
		free(block);
}

static void
start_and_join(unsigned long number)
{
	pthread_t thread;
	void *block = new_block(), *result = NULL;

	if (pthread_create(&thread, NULL,
		number % 2 == 0 ? exchange : exchange_and_exit, block) != 0) {
		free(block);
		return;
	}
	block = NULL;
	if (number % 3 == 0)
		sched_yield(); /* or it dies while it is awaited */
	pthread_join(thread, &result);
	free(result);
}

static void *
creator_main(void *arg)
{
	struct creator *creator = arg;
	pthread_attr_t detached;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	while (!__atomic_load_n(&creator->stop, __ATOMIC_ACQUIRE)) {
		start_and_join(creator->born);
		if (creator->born % 4 == 0)
			start_detached(&detached);
		__atomic_add_fetch(&creator->born, 1, __ATOMIC_RELEASE);
	}
	pthread_attr_destroy(&detached);
	return NULL;
}

TEST(born_and_dying)
{
	static struct creator creators[CREATORS];
	unsigned long born[CREATORS];
	uintptr_t planted = block_new(72);
	int i, pass;

	for (i = 0; i < CREATORS; i++)
		ck_assert_int_eq(pthread_create(&creators[i].thread, NULL,
				     creator_main, &creators[i]),
		    0);
	for (pass = 0; pass < PASSES; pass++) {
		for (i = 0; i < CREATORS; i++)
			born[i] = __atomic_load_n(
			    &creators[i].born, __ATOMIC_ACQUIRE);
		EXPECT_LOST(planted);
		/* All continue. */
		for (i = 0; i < CREATORS; i++)
			while (__atomic_load_n(&creators[i].born,
				   __ATOMIC_ACQUIRE) == born[i])
				sched_yield();
	}
	for (i = 0; i < CREATORS; i++)
		__atomic_store_n(&creators[i].stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < CREATORS; i++)
		ck_assert_int_eq(pthread_join(creators[i].thread, NULL), 0);
}

/* The heirs: each thread starts the next one and ends, and hands on a block. */
static bool chain_stop;
static unsigned long chain_length;

static void *
chain_link(void *arg)
{
	pthread_t next;
	pthread_attr_t detached;

	if (__atomic_load_n(&chain_stop, __ATOMIC_ACQUIRE)) {
		free(arg);
		__atomic_store_n(&chain_length, 0, __ATOMIC_RELEASE);
		return NULL;
	}
	__atomic_add_fetch(&chain_length, 1, __ATOMIC_RELEASE);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	while (pthread_create(&next, &detached, chain_link, arg) != 0)
		sched_yield();
	pthread_attr_destroy(&detached);
	return NULL;
}

TEST(handed_on_from_thread_to_thread)
{
	uintptr_t planted = block_new(72);
	unsigned long length;
	int pass;

	chain_link(new_block());
	for (pass = 0; pass < PASSES; pass++) {
		length = __atomic_load_n(&chain_length, __ATOMIC_ACQUIRE);
		EXPECT_LOST(planted);
		while (
		    __atomic_load_n(&chain_length, __ATOMIC_ACQUIRE) == length)
			sched_yield();
	}
	__atomic_store_n(&chain_stop, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&chain_length, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

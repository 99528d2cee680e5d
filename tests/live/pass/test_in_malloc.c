/*
 * A pass while threads are inside malloc and free: the arena is locked for the
 * pass, and a thread that waits for the lock may hold a block only by the
 * address of its chunk header.
 */
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define CHURNERS 4
#define PASSES 100
#define SIZES 3

static bool stop;

/* Too large for tcache and fastbins: each call takes the lock. */
static void *
churn(void *arg)
{
	static const size_t sizes[SIZES] = { 1200, 3000, 20000 };
	char *block;
	size_t i;

	for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		block = malloc(sizes[i % SIZES]);
		if (block == NULL)
			abort();
		block[0] = 'b';
		/*
		 * The block must not be next to the top chunk, which absorbs
		 * its neighbours.
		 */
		free(block);
	}
	return arg;
}

TEST(waiting_for_an_arena)
{
	pthread_t threads[CHURNERS];
	size_t i;

	mallopt(M_ARENA_MAX, 1);
	for (i = 0; i < CHURNERS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (i = 0; i < PASSES; i++)
		EXPECT_LEAKS(0);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < CHURNERS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_LEAKS(0);
}

/* Run with frames between the stack pointer and those of malloc, for 1 ms. */
static void
handle(int signo)
{
	struct timespec begin, now;
	volatile char room[3000];

	(void)signo;
	memset((void *)room, 0, sizeof(room));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec -
		begin.tv_nsec <
	    1000000);
}

/*
 * Longer apart than a handler takes: a signal that is pending when it returns
 * is delivered at once, and a thread with the lock of the arena would keep it.
 */
static void *
disturb(void *arg)
{
	const struct timespec pause = { 0, 4000000 };
	pthread_t *threads = arg;
	size_t i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < CHURNERS; i++)
			pthread_kill(threads[i], SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* A signal handler runs on top of malloc whenever the threads are stopped. */
TEST(interrupted_by_a_handler)
{
	struct sigaction action = { .sa_handler = handle,
		.sa_flags = SA_RESTART };
	pthread_t threads[CHURNERS], disturber;
	size_t i;

	mallopt(M_ARENA_MAX, 1);
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < CHURNERS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, churn, NULL), 0);
	ck_assert_int_eq(pthread_create(&disturber, NULL, disturb, threads), 0);
	for (i = 0; i < PASSES; i++)
		EXPECT_LEAKS(0);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(disturber, NULL);
	for (i = 0; i < CHURNERS; i++)
		pthread_join(threads[i], NULL);
}

#define HEAP_BYTES ((uintptr_t)64 << 20) /* heaps of arenas begin at these */

static int wake[2];
static void *volatile before[1];
static pid_t waiting; /* its tid */

/*
 * Wait in a system call that malloc does not make. The stack has the header of
 * a lost block, and a register the arena, as malloc() may leave them there.
 */
static void *
wait_behind_malloc(void *arg)
{
	volatile uintptr_t header;
	uintptr_t hidden, arena;
	char byte;

	before[0] = malloc(24);
	hidden = mu_hide(malloc(24));
	header = (uintptr_t)mu_reveal(hidden) - 16;
	/* The first word of a heap leads to the arena. */
	arena = *(uintptr_t *)((uintptr_t)before[0] & ~(HEAP_BYTES - 1));
	scrub_stack();
	scrub_registers();
	__atomic_store_n(&waiting, gettid(), __ATOMIC_RELEASE);
	ck_assert_int_eq(read(wake[0], &byte, 1), 1);
	__asm__ volatile("" : : "r"(arena));
	free(mu_reveal(hidden));
	(void)header;
	return arg;
}

/*
 * A header address counts only in a thread that is inside malloc, which this
 * one is not.
 */
TEST(waiting_for_something_else)
{
	pthread_t thread;

	ck_assert_int_eq(pipe(wake), 0);
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, wait_behind_malloc, NULL), 0);
	while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) == 0 ||
	    thread_state(waiting) != 'S')
		sched_yield();
	EXPECT_LEAKS(1);
	ck_assert_int_eq(write(wake[1], "", 1), 1);
	pthread_join(thread, NULL);
	EXPECT_LEAKS(0);
}

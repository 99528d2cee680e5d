/*
 * Threads that are inside malloc and free when a pass looks: the one arena is
 * locked for the pass, and a thread that waits for it has a block that is still
 * in use by the address of its header only.
 */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/support/live.h"

#define CHURNERS 4
#define PASSES 100
#define SIZES 3

static bool stop;

/* Too large for a thread's cache, and for fastbins: each call takes the lock.
 */
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
		/* Below the top: it is merged with its neighbours. */
		free(block);
	}
	return arg;
}

START_TEST(waiting_for_an_arena)
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
END_TEST

/* Its frames lie between the stack pointer and those of malloc, for 1 ms. */
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

static void *
disturb(void *arg)
{
	const struct timespec pause = { 0, 1000000 };
	pthread_t *threads = arg;
	size_t i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < CHURNERS; i++)
			pthread_kill(threads[i], SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* A handler runs on top of malloc whenever the threads are stopped. */
START_TEST(interrupted_by_a_handler)
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
END_TEST

int
main(void)
{
	Suite *suite = suite_create("in_malloc");
	TCase *tcase = tcase_create("in_malloc");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, waiting_for_an_arena);
	tcase_add_test(tcase, interrupted_by_a_handler);
	suite_add_tcase(suite, tcase);
	return run_forked(suite);
}

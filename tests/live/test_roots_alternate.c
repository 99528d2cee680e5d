/*
 * Where pointers live: alternate signal stacks, whose only address the kernel
 * may have. The block is in use, and what is written in it counts.
 */
#include <signal.h>
#include <time.h>

#include "tests/support/live.h"
#include "tests/support/place_filters.h"

#define STACK 47816

static pthread_barrier_t barrier;

LIVE void
set_alternate(uintptr_t hidden, uintptr_t inside)
{
	stack_t stack = { .ss_size = STACK };

	put((char *)mu_reveal(hidden) + 256, inside);
	put(&stack.ss_sp, hidden);
	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	drop(&stack.ss_sp);
}

LIVE void
set_none(void)
{
	stack_t stack = { .ss_flags = SS_DISABLE };

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
}

struct player {
	uintptr_t stack, inside;
	bool busy, stop;
	pthread_t thread;
};

/* First with an alternate stack, and then without one. */
static void *
play(void *arg)
{
	struct player *player = arg;
	struct timespec nap = { 0, 1000000 };

	set_alternate(player->stack, player->inside);
	scrub();
	pthread_barrier_wait(&barrier);
	while (!__atomic_load_n(&player->stop, __ATOMIC_ACQUIRE))
		if (!player->busy)
			nanosleep(&nap, NULL);
	set_none();
	scrub();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The thread that asks. */
START_TEST(own)
{
	uintptr_t stack = block_new(STACK), inside = block_new(72);

	set_alternate(stack, inside);
	EXPECT_LEAKS(0);
	set_none();
	EXPECT_LEAKS(2);
}
END_TEST

LIVE void
play_all(bool busy)
{
	static struct player players[5];
	size_t i, count = sizeof(players) / sizeof(players[0]);
	uintptr_t lost = block_new(STACK);

	pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
	for (i = 0; i < count; i++) {
		players[i].stack = block_new(STACK);
		players[i].inside = block_new(72);
		players[i].busy = busy && i < 2;
		ck_assert_int_eq(
		    pthread_create(&players[i].thread, NULL, play, &players[i]),
		    0);
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 3; i++)
		EXPECT_LOST(lost);
	for (i = 0; i < count; i++)
		__atomic_store_n(&players[i].stop, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
	EXPECT_LEAKS(1 + 2 * count);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < count; i++)
		pthread_join(players[i].thread, NULL);
}

/* _i: threads that sleep, threads that compute. */
START_TEST(of_threads)
{
	play_all(_i == 1);
}
END_TEST

/* A filter could kill a thread that is made to ask: its frame tells it. */
START_TEST(under_seccomp)
{
	static const int calls[] = { SYS_acct };

	if (getenv("TESTS_STOP") != NULL) {
		printf("SKIPPED: under_seccomp: stopped in one way only\n");
		return;
	}
	ck_assert(filter_install(calls, 1, SECCOMP_RET_KILL_PROCESS));
	play_all(false);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("roots_alternate");
	TCase *tcase = tcase_create("alternate");

	tcase_set_timeout(tcase, 240);
	tcase_add_test(tcase, own);
	tcase_add_loop_test(tcase, of_threads, 0, 2);
	tcase_add_test(tcase, under_seccomp);
	suite_add_tcase(suite, tcase);
	return run_forked(suite);
}

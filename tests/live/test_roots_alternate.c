/*
 * Where pointers live: alternate signal stacks, whose only address the kernel
 * may have. The block is in use, and what is written in it counts.
 */
#include <signal.h>
#include <time.h>

#include "tests/support/environment_filters.h"
#include "tests/support/live.h"
#include "tests/support/suite.h"

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
	unsigned long woken; /* from a sleep, too early */
	pthread_t thread;
};

#define PLAYERS 5

static struct player players[PLAYERS];

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
			player->woken += nanosleep(&nap, NULL) != 0;
	set_none();
	scrub();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The thread that asks. */
TEST(own)
{
	uintptr_t stack = block_new(STACK), inside = block_new(72);

	set_alternate(stack, inside);
	EXPECT_LEAKS(0);
	set_none();
	EXPECT_LEAKS(2);
}

/* The first BUSY of the threads compute, the others sleep. */
LIVE void
begin_all(size_t busy)
{
	size_t i;

	pthread_barrier_init(&barrier, NULL, PLAYERS + 1);
	for (i = 0; i < PLAYERS; i++) {
		players[i].stack = block_new(STACK);
		players[i].inside = block_new(72);
		players[i].busy = i < busy;
		ck_assert_int_eq(
		    pthread_create(&players[i].thread, NULL, play, &players[i]),
		    0);
	}
	pthread_barrier_wait(&barrier);
}

LIVE void
stop_all(void)
{
	size_t i;

	for (i = 0; i < PLAYERS; i++)
		__atomic_store_n(&players[i].stop, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
}

/* WOKEN: sleeps may end too early. */
LIVE void
join_all(bool woken)
{
	size_t i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < PLAYERS; i++) {
		pthread_join(players[i].thread, NULL);
		ck_assert_msg(woken || players[i].woken == 0,
		    "%lu sleeps ended too early", players[i].woken);
	}
}

LIVE bool
is_by_signal(void)
{
	const char *stop = getenv("TESTS_STOP");

	return stop != NULL && atoi(stop) == MEMUNREACHABLE_STOP_SIGNAL;
}

LIVE void
play_all(size_t busy)
{
	uintptr_t lost = block_new(STACK);
	int i;

	begin_all(busy);
	for (i = 0; i < 10; i++)
		EXPECT_LOST(lost);
	stop_all();
	EXPECT_LEAKS(1 + 2 * PLAYERS);
	join_all(is_by_signal());
}

/* _i: threads that sleep, threads that compute. */
TEST_LOOP(of_threads, 0, 2)
{
	play_all(_i == 1 ? 2 : 0);
}

LIVE bool
begin_filter(void)
{
	static const int calls[] = { SYS_acct };

	if (getenv("TESTS_STOP") != NULL) {
		printf("SKIPPED: under_seccomp: stopped in one way only\n");
		return false;
	}
	ck_assert(filter_install(calls, 1, SECCOMP_RET_KILL_PROCESS));
	return true;
}

/* A filter could kill a thread that is made to ask: its frame tells it. */
TEST(under_seccomp)
{
	if (begin_filter())
		play_all(PLAYERS);
}

/* But the signal would end sleeps. */
TEST(asleep_under_seccomp)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t lost;

	if (!begin_filter())
		return;
	lost = block_new(STACK);
	begin_all(0);
	scrub();
	GetUnreachableMemory(&info, 20);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_PARTIAL);
	ck_assert_ptr_nonnull(strstr(info.reason, "alternate signal stacks"));
	ck_assert_int_eq(info.stop, MEMUNREACHABLE_STOP_PTRACE);
	FreeUnreachableMemoryInfo(&info);
	stop_all();
	join_all(false);
	block_free(lost);
}

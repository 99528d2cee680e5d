/*
 * A thread that waits for signals gets none of ours, whatever signals these
 * are. In sigwait() they do not show as blocked, and a handler is not asked.
 */
#include <poll.h>
#include <sys/signalfd.h>

#include "tests/support/suite.h"
#include "tests/support/transparency.h"

#define PASSES 10

static int taken;

static void
fill(sigset_t *set, int kind)
{
	sigemptyset(set);
	sigaddset(set, SIGURG);
	if (kind > 0)
		sigaddset(set, SIGWINCH);
	if (kind > 1)
		sigfillset(set); /* but for 32 and 33, says libc */
}

/* The mask is empty otherwise: only in the call are they blocked, or not. */
static __attribute__((noreturn)) void *
take(void *arg)
{
	sigset_t set;

	fill(&set, *(const int *)arg);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (;;)
		if (sigwaitinfo(&set, NULL) > 0)
			__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
}

TEST_LOOP(waiting, 0, 3 * TRANSPARENCY_METHODS)
{
	int kind = _i / TRANSPARENCY_METHODS;
	pthread_t thread;

	transparency_spawn(&thread, take, &kind);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	ck_assert_int_eq(taken, 0);
	/* And its own it gets. */
	pthread_kill(thread, SIGURG);
	transparency_await(&taken, 1);
	ck_assert_int_eq(taken, 1);
}

TEST_LOOP(descriptor, 0, 3 * TRANSPARENCY_METHODS)
{
	struct pollfd look = { .events = POLLIN };
	int kind = _i / TRANSPARENCY_METHODS;
	pthread_t thread;
	sigset_t set;

	fill(&set, kind);
	/* Before the thread, which inherits it. */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	look.fd = signalfd(-1, &set, SFD_CLOEXEC);
	transparency_spawn(&thread, take, &kind);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	ck_assert_int_eq(taken, 0);
	ck_assert_int_eq(poll(&look, 1, 0), 0);
}

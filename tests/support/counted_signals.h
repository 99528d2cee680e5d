/*
 * Signals, each counted: queued ones, which have a number each; those of a
 * timer, one a millisecond; and SIGCHLD, which must not arrive.
 */
#ifndef TESTS_SUPPORT_COUNTED_SIGNALS_H
#define TESTS_SUPPORT_COUNTED_SIGNALS_H

#include <check.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"

#define MAX_QUEUED (1u << 20)
#define NS_PER_MS 1000000

#define SIGNAL_TIMER (SIGRTMIN + 3)
#define SIGNAL_QUEUED (SIGRTMIN + 4)

static unsigned char seen[MAX_QUEUED];
static unsigned sent, received, strays;
static unsigned long timer_total;
static unsigned children;

static inline void
queue_next(void)
{
	union sigval value = { .sival_int = (int)sent };

	if (sigqueue(getpid(), SIGNAL_QUEUED, value) == 0)
		__atomic_fetch_add(&sent, 1, __ATOMIC_SEQ_CST);
}

static inline void
on_queued(int signo, siginfo_t *info, void *context)
{
	unsigned number = (unsigned)info->si_value.sival_int;

	(void)signo;
	(void)context;
	if (info->si_code != SI_QUEUE || number >= MAX_QUEUED) {
		__atomic_fetch_add(&strays, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_fetch_add(&seen[number], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&received, 1, __ATOMIC_SEQ_CST);
}

static inline void
on_timer(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code != SI_TIMER) {
		__atomic_fetch_add(&strays, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_fetch_add(&timer_total, 1 + (unsigned long)info->si_overrun,
	    __ATOMIC_SEQ_CST);
}

static inline void
on_child(int signo)
{
	(void)signo;
	__atomic_fetch_add(&children, 1, __ATOMIC_SEQ_CST);
}

static inline void
catch_signals(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = on_queued;
	ck_assert_int_eq(sigaction(SIGNAL_QUEUED, &action, NULL), 0);
	action.sa_sigaction = on_timer;
	ck_assert_int_eq(sigaction(SIGNAL_TIMER, &action, NULL), 0);
	action.sa_flags = SA_RESTART;
	action.sa_handler = on_child;
	ck_assert_int_eq(sigaction(SIGCHLD, &action, NULL), 0);
}

/* One signal a millisecond. Returns just before the first was counted. */
static inline uint64_t
start_timer(timer_t *timer)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGNAL_TIMER,
	};
	struct itimerspec each = {
		.it_interval = { 0, NS_PER_MS },
		.it_value = { 0, NS_PER_MS },
	};
	uint64_t began;

	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, timer), 0);
	began = now_ns();
	ck_assert_int_eq(timer_settime(*timer, 0, &each, NULL), 0);
	return began;
}

/*
 * Every millisecond since BEGAN was counted once. A moment may pass between
 * the two readings, but a signal that was lost stays lost: look until they
 * agree, or for the thousandth time.
 */
static inline void
expect_timer_exact(uint64_t began)
{
	long missing = LONG_MAX;
	unsigned long total;
	int tries;

	for (tries = 0; tries < 1000 && missing > 2; tries++) {
		usleep(500);
		total = __atomic_load_n(&timer_total, __ATOMIC_SEQ_CST);
		missing = (long)((now_ns() - began) / NS_PER_MS) - (long)total;
		ck_assert_int_ge(missing, 0);
	}
	ck_assert_int_le(missing, 2);
}

static inline void
expect_queued_exact(void)
{
	unsigned i;

	while (__atomic_load_n(&received, __ATOMIC_SEQ_CST) < sent)
		usleep(500);
	ck_assert_uint_eq(strays, 0);
	ck_assert_uint_eq(received, sent);
	for (i = 0; i < sent; i++)
		ck_assert_uint_eq(seen[i], 1);
}

#endif

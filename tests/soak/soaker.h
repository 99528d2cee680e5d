/*
 * A thread of the soak: it repeats its action until all stop; the thread that
 * sees an error reports it.
 */
#ifndef TESTS_SOAK_SOAKER_H
#define TESTS_SOAK_SOAKER_H

#include <stdarg.h>
#include <time.h>

#include "tests/support/pass/churn.h"

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS 1000000ull

/* An event that takes longer than this never comes. */
#define PATIENCE_NS (120 * NS_PER_SEC)

struct soaker;

struct role {
	const char *name;
	void (*round)(struct soaker *soaker);
};

struct soaker {
	struct churner churner; /* its random numbers, and how far it is */
	const struct role *role;
	pthread_t thread;
	unsigned number;
	unsigned long watched; /* progress when it was last looked at */
};

static unsigned wrongs;

static __attribute__((format(printf, 1, 2))) void
wrong(const char *format, ...)
{
	va_list args;

	__atomic_fetch_add(&wrongs, 1, __ATOMIC_SEQ_CST);
	va_start(args, format);
	fprintf(stderr, "WRONG: process %d: ", (int)getpid());
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

LIVE uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

LIVE size_t
roll(struct soaker *soaker, size_t limit)
{
	return random_below(&soaker->churner, limit);
}

LIVE bool
is_resting(void)
{
	return __atomic_load_n(&resting, __ATOMIC_RELAXED) != 0;
}

LIVE void
count_one(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

LIVE unsigned long
count_of(const unsigned long *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Wait until COUNTER is at least WANTED, however busy the machine is. */
LIVE bool
await_count(const unsigned long *counter, unsigned long wanted)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;

	while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < wanted) {
		if (now_ns() > deadline)
			return false;
		sched_yield();
	}
	return true;
}

static void *
soaker_body(void *arg)
{
	struct soaker *soaker = arg;

	while (!is_resting()) {
		soaker->role->round(soaker);
		count_one(&soaker->churner.progress);
	}
	return NULL;
}

#endif

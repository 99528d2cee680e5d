/*
 * The time, and waiting for it to pass.
 */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Of CLOCK_MONOTONIC. */
static inline uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* All of it, whatever signals arrive. */
static inline void
nap_us(long us)
{
	struct timespec nap = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&nap, &nap) != 0)
		continue;
}

static inline void
nap_ms(long ms)
{
	nap_us(ms * 1000);
}

#endif

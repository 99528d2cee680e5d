#include "tests/support/clock.h"

uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void
nap_us(long us)
{
	struct timespec nap = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&nap, &nap) != 0)
		continue;
}

void
nap_ms(long ms)
{
	nap_us(ms * 1000);
}

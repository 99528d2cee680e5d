/*
 * How long the original of an image stays stopped. Until then, memory that the
 * image shares with it or that a fork left out can be read.
 *
 * Runs in: sweeper, keeper.
 */
#ifndef HEAPWALK_MEMORY_STANDSTILL_H
#define HEAPWALK_MEMORY_STANDSTILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/sys.h"

/* Bytes that are read in any case, even on a busy machine: about 10 ms. */
#define MU_STANDSTILL_ALWAYS ((size_t)16 << 20)

/* Zero: it never continues. */
struct mu_standstill {
	uint64_t until_ns; /* CLOCK_MONOTONIC time at which it should continue;
			      0: never */
	const int *over;   /* set to non-zero when it continues; may be NULL */
};

/*
 * To be checked after a read. If the result is false, what was read is exact.
 */
static inline bool
mu_standstill_is_over(const struct mu_standstill *still)
{
	if (still->over == NULL)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(still->over, __ATOMIC_RELAXED) != 0;
}

/* True if a reader that has read BYTES, with the next step, must stop now. */
static inline bool
mu_standstill_must_end(const struct mu_standstill *still, size_t bytes)
{
	return mu_standstill_is_over(still) ||
	    (still->until_ns != 0 && bytes > MU_STANDSTILL_ALWAYS &&
		mu_sys_now_ns() >= still->until_ns);
}

#endif

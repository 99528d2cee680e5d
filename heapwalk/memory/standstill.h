/*
 * How long the original of an image stands still. Until then memory that the
 * image shares with it, or that a fork left out, can be read.
 *
 * Runs in: sweeper, keeper.
 */
#ifndef HEAPWALK_MEMORY_STANDSTILL_H
#define HEAPWALK_MEMORY_STANDSTILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/sys.h"

/* So much is read in any case, by a busy machine too: about 10 ms. */
#define MU_STANDSTILL_ALWAYS ((size_t)16 << 20)

/* Zero: it never goes on. */
struct mu_standstill {
	uint64_t until_ns; /* CLOCK_MONOTONIC: it ought to go on; 0: never */
	const int *over;   /* not 0: it goes on now; NULL: it does not */
};

/* To be asked after a read: before the answer was false it was exact. */
static inline bool
mu_standstill_is_over(const struct mu_standstill *still)
{
	if (still->over == NULL)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(still->over, __ATOMIC_RELAXED) != 0;
}

/* Must the reader of so many bytes, of this step too, leave it at that? */
static inline bool
mu_standstill_must_end(const struct mu_standstill *still, size_t bytes)
{
	return mu_standstill_is_over(still) ||
	    (still->until_ns != 0 && bytes > MU_STANDSTILL_ALWAYS &&
		mu_sys_now_ns() >= still->until_ns);
}

#endif

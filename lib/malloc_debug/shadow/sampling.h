/*
 * Choose the blocks that get a stack when only one in so many bytes is sampled.
 *
 * The hits are a Poisson process over the bytes that a thread allocates: the
 * gaps between two hits are exponential, so a block of SIZE bytes is hit with
 * the probability 1 - exp(-SIZE / mean), whatever was allocated before it. The
 * inverse of that is the number of blocks that one hit represents.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_SAMPLING_H
#define LIB_MALLOC_DEBUG_SHADOW_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"

/* Bytes to the next hit; 0 in a thread that has not drawn the first gap yet. */
extern HIDDEN _Thread_local size_t sampling_left
    __attribute__((tls_model("initial-exec")));

/*
 * Start with MEAN bytes between hits, not 0. Call before any other thread runs.
 */
void sampling_init(size_t mean);

/*
 * In a child after fork(): draw anew, so that its hits differ from the
 * parent's.
 */
void sampling_fork_child(void);

/*
 * True if a block of SIZE bytes gets a stack, when the gap to the next sample
 * has been used up or is not drawn yet.
 */
bool sampling_draw(size_t size);

/* True if a block of SIZE bytes that is about to be allocated gets a stack. */
static inline bool
sampling_wants(size_t size)
{
	if (__builtin_expect(size < sampling_left, 1)) {
		sampling_left -= size;
		return false;
	}
	return sampling_draw(size);
}

/* Number of blocks that a block that was hit represents; >= 1. */
double sampling_weight(size_t size, size_t mean);

/* The number that COUNT hit blocks of SIZE bytes represent. Rounded. */
uint64_t sampling_estimate(size_t size, uint64_t count, size_t mean);

#endif

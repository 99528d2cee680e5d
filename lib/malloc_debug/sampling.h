/*
 * Which blocks get a stack when one in so many bytes shall.
 *
 * A Poisson process over the bytes that a thread allocates: the gaps between
 * two hits are exponential, so that a block of SIZE bytes is hit with the
 * probability 1 - exp(-SIZE / mean), whatever was allocated before it. Its
 * inverse is the number of blocks that one hit stands for.
 *
 * Runs in: the original, any thread.
 */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"

/* Bytes to the next hit; 0 in a thread that has not drawn yet. */
extern HIDDEN _Thread_local size_t sampling_left
    __attribute__((tls_model("initial-exec")));

/* MEAN bytes between hits, not 0. Before any other thread runs. */
void sampling_init(size_t mean);

/* In a child after fork(): its hits are its own. */
void sampling_fork_child(void);

bool sampling_draw(size_t size);

/* Of a block of SIZE bytes to be allocated now: does it get a stack? */
static inline bool
sampling_wants(size_t size)
{
	if (__builtin_expect(size < sampling_left, 1)) {
		sampling_left -= size;
		return false;
	}
	return sampling_draw(size);
}

/* How many blocks one stands for that was hit; >= 1. */
double sampling_weight(size_t size, size_t mean);

/* Of COUNT blocks of SIZE bytes that were hit. Rounded. */
uint64_t sampling_estimate(size_t size, uint64_t count, size_t mean);

#endif

/*
 * Which blocks are unreachable, as the leak finder says, if it is here.
 *
 * Runs in: the original, any thread that is not inside malloc.
 */
#ifndef DEBUG_LEAKTRACER_REACH_H
#define DEBUG_LEAKTRACER_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/ranges.h"

struct leaktracer_reach {
	struct mu_ranges blocks; /* as malloc knows them */
	struct mu_arena arena;   /* theirs */
	bool judged;
	char remark[320]; /* what is to be known about the answer, or "" */
};

/*
 * Find the leak finder, or load it: not once exit handlers run, since what is
 * loaded then has the constructors of its libraries run again.
 */
void leaktracer_reach_load(void);

/* A pass. Not judged: REMARK says why, and nothing is to be left out. */
void leaktracer_reach_find(struct leaktracer_reach *reach);

/* Was the block that begins at BEGIN, or the one it is dressed in, found? */
bool leaktracer_reach_lost(
    const struct leaktracer_reach *reach, uintptr_t begin);

void leaktracer_reach_free(struct leaktracer_reach *reach);

#endif

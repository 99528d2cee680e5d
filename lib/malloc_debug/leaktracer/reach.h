/*
 * The unreachable blocks, by the leak finder if it is available.
 *
 * Runs in: the original, any thread that is not inside malloc.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_REACH_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/subject/ranges.h"

struct leaktracer_reach {
	struct mu_ranges blocks; /* as malloc knows them */
	struct mu_arena arena;   /* memory of these */
	bool checked;
	char remark[320]; /* a remark about the answer, or "" */
};

/*
 * Find the leak finder, or load it. Not once exit handlers run: a library
 * loaded then has the constructors of its dependencies run again.
 */
void leaktracer_reach_load(void);

/*
 * Run a pass. If it did not check the heap, REMARK says why, and all records
 * are to be listed.
 */
void leaktracer_reach_find(struct leaktracer_reach *reach);

/*
 * True if the block that begins at BEGIN, or the allocator's block around it,
 * was found unreachable.
 */
bool leaktracer_reach_lost(
    const struct leaktracer_reach *reach, uintptr_t begin);

/* Release the memory. Accepts the zero value; may be called twice. */
void leaktracer_reach_free(struct leaktracer_reach *reach);

#endif

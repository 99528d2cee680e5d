/*
 * Decide which candidates are mmapped chunks, as far as mp_'s counters allow.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_MMAPPED_SUMS_H
#define HEAPWALK_HEAPS_GLIBC_MMAPPED_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/arena.h"
#include "mu/range.h"

struct mu_glibc_candidate {
	struct mu_range whole; /* the mapping */
	bool out;              /* not a chunk in any solution */
	bool unsure;           /* a chunk in some solutions, not in others */
};

/*
 * COUNT candidates, sorted by address, may overlap; chunks do not. NUM of them,
 * with BYTES in all, are chunks. Tries all sets that fit. Returns false if
 * there is none, or if there are too many to try; nothing is set then.
 */
bool mu_glibc_mmapped_solve(struct mu_glibc_candidate *candidates, size_t count,
    size_t num, size_t bytes, struct mu_arena *memory);

#endif

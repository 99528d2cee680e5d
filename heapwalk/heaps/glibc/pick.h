/*
 * Which of the candidates are mmapped chunks, if mp_'s counters can tell.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_PICK_H
#define HEAPWALK_HEAPS_GLIBC_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/arena.h"
#include "mu/range.h"

struct mu_glibc_candidate {
	struct mu_range whole; /* its mapping */
	bool out;              /* is none, whatever way the counters are met */
	bool unsure;           /* is one in some ways, and is none in others */
};

/*
 * COUNT candidates, by address; they may overlap, chunks do not. NUM of them,
 * BYTES in all, are chunks: which? All sets that fit are gone through. False:
 * there is none, or there are too many to look at; then nothing is set.
 */
bool mu_glibc_pick(struct mu_glibc_candidate *candidates, size_t count,
    size_t num, size_t bytes, struct mu_arena *memory);

#endif

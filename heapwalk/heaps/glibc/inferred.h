/* Check whether the layout of another release fits. */
#ifndef HEAPWALK_HEAPS_GLIBC_INFERRED_H
#define HEAPWALK_HEAPS_GLIBC_INFERRED_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * Decide whether a reading with an inferred layout that ended with STATUS is
 * accepted. It is, only if there was no deviation at all: what makes the answer
 * partial with a known release suggests here that the layout is wrong.
 * Otherwise MU_ERR_UNKNOWN_GLIBC, and walk->why names the rule.
 */
enum mu_status mu_glibc_inferred_judge(
    struct mu_glibc_walk *walk, enum mu_status status);

#endif

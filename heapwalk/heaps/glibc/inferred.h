/* Check whether the layout of another release fits. */
#ifndef HEAPWALK_HEAPS_GLIBC_INFERRED_H
#define HEAPWALK_HEAPS_GLIBC_INFERRED_H

#include "heapwalk/heaps/glibc/heap.h"

/*
 * The reading with an inferred layout came to STATUS: is it believed? Only if
 * nothing had to be allowed for: what is a partial answer where the release is
 * known is here a sign that it is laid out otherwise. Else
 * MU_ERR_UNKNOWN_GLIBC, and walk->why names the rule.
 */
enum mu_status mu_glibc_inferred_judge(
    struct mu_glibc_walk *walk, enum mu_status status);

#endif

/*
 * Scan what a marking begins with: blocks that are kept in any case, memory
 * outside the heap, and single words.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARK_ROOTS_H
#define HEAPWALK_MARK_ROOTS_H

#include "heapwalk/marking.h"
#include "heapwalk/roots.h"

/* All but the words that are put off. */
void mu_mark_roots(struct mu_marking *marking, const struct mu_roots *roots);

#endif

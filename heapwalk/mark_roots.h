/*
 * Scan what a marking begins with: blocks that are kept in any case, memory
 * outside the heap, and single words.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARK_ROOTS_H
#define HEAPWALK_MARK_ROOTS_H

#include "heapwalk/roots.h"
#include "heapwalk/scan.h"

/* Finishes but for what was dropped or put off. */
void mu_mark_roots(struct mu_scan *scan, const struct mu_roots *roots);

#endif

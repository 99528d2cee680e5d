/*
 * Blocks that are scanned together (heapwalk/scan.h), where every word that
 * counts is aligned and has no tags, and no block has code.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_BATCH_H
#define HEAPWALK_BATCH_H

#include "heapwalk/scan.h"

static inline bool
mu_batch_possible(const struct mu_scan *scan)
{
	const struct mu_blocks *blocks = scan->blocks;

	return blocks->words.tags == 0 && !blocks->words.unaligned &&
	    blocks->num_code == 0;
}

/* One of MU_BATCH_BLOCKS at most: the block of SPAN at BEGIN, which is taken.
 */
void mu_batch_add(
    struct mu_scan *scan, const struct mu_span *span, uintptr_t begin);

/* Scan what was added; words that have to be looked up wait in SCAN. */
void mu_batch_scan(struct mu_scan *scan);

#endif

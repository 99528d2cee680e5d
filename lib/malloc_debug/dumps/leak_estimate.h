/*
 * Counts under backtrace_sample: the number of blocks that sampled blocks
 * represent.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_LEAK_ESTIMATE_H
#define LIB_MALLOC_DEBUG_DUMPS_LEAK_ESTIMATE_H

#include <stdbool.h>

#include "lib/malloc_debug/dumps/leak_blocks.h"

/* For leak_blocks_take(): excludes blocks that sampled ones represent. */
bool leak_estimate_wanted(const struct recorded_block *block);

/* Estimate the counts of merged blocks, if blocks are sampled. */
void leak_estimate(struct leak_blocks *blocks);

/* True if its stack was captured, or tried, at allocation. */
bool leak_estimate_captured(uint32_t stack);

#endif

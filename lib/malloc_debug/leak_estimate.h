/*
 * Counts under backtrace_sample: what blocks that were hit stand for.
 *
 * Runs in: the original, any thread.
 */
#ifndef LEAK_ESTIMATE_H
#define LEAK_ESTIMATE_H

#include <stdbool.h>

#include "lib/malloc_debug/leak_blocks.h"

/* For leak_blocks_take(): not those that others stand for. */
bool leak_estimate_wanted(const struct recorded_block *block);

/* The counts of merged blocks, if there is anything to estimate. */
void leak_estimate(struct leak_blocks *blocks);

/* Was its stack looked for when it was allocated? */
bool leak_estimate_captured(uint32_t stack);

#endif

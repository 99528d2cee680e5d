/*
 * Read all blocks in the order of addresses: through a buffer, where their
 * memory is not present (heapwalk/subject/read_buffer.h).
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_HEAPS_BLOCKS_READING_H
#define HEAPWALK_HEAPS_BLOCKS_READING_H

#include "heapwalk/heaps/blocks.h"

/*
 * As mu_blocks_each(), for a VISIT that reads what most blocks contain: its
 * block's view is gone when it returns.
 */
void mu_blocks_read_each(const struct mu_blocks *blocks,
    const struct mu_snapshot *snap,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

#endif

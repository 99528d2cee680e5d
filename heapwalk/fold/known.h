/*
 * Leave out of a report what an earlier one had: blocks that were unreachable
 * at a checkpoint.
 */
#ifndef HEAPWALK_FOLD_KNOWN_H
#define HEAPWALK_FOLD_KNOWN_H

#include "heapwalk/heaps/blocks.h"

/* A block that was unreachable. */
struct mu_known {
	struct mu_range range; /* usable bytes */
	uint64_t word;         /* mu_known_word() */
};

/* The first 8 bytes, zeros after the end or if they cannot be read. */
uint64_t mu_known_word(struct mu_memory *memory, const struct mu_block *block);

/*
 * Blocks were marked. Mark those of KNOWN (by address) that are still
 * unreachable, of the same size and with the same first word; what they lead to
 * stays as it is. Blocks must still be readable through MEMORY.
 * MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC) passed.
 */
enum mu_status mu_known_leave_out(const struct mu_blocks *blocks,
    struct mu_memory *memory, const struct mu_known *known, size_t count,
    uint64_t deadline_ns);

#endif

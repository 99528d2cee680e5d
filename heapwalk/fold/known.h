/*
 * Leave out of a report what an earlier one had: blocks that were unreachable
 * at a checkpoint.
 */
#ifndef HEAPWALK_FOLD_KNOWN_H
#define HEAPWALK_FOLD_KNOWN_H

#include "heapwalk/heaps/blocks.h"

/* What is known of the first word of a block. */
enum mu_known_by {
	MU_KNOWN_WORD,     /* mu_known_word() */
	MU_KNOWN_MARK,     /* mu_known_mark() of it */
	MU_KNOWN_RANGE,    /* nothing */
	MU_KNOWN_CONTENTS, /* of more than it: mu_known_contents() */
};

/* A block that was unreachable. */
struct mu_known {
	struct mu_range range; /* usable bytes */
	uint64_t word;
	enum mu_known_by by;
	uint32_t stack; /* mu_known_stack(); 0: not known */
};

/*
 * 16 bits that differ with the word: two words have the same by a chance of one
 * in 65,536, and they do not tell it.
 */
static inline uint16_t
mu_known_mark(uint64_t word)
{
	return (uint16_t)((word ^ word >> 29) * 0x9e3779b97f4a7c15ull >> 48);
}

/* The first 8 bytes, zeros after the end or if they cannot be read. */
uint64_t mu_known_word(struct mu_memory *memory, const struct mu_block *block);

/*
 * Hashes of the first word and of the first MU_LEAK_CONTENTS bytes. To leave a
 * block out the first is compared. To take its mark both are: of an object of
 * C++ the first word is the same in all of its class.
 */
uint64_t mu_known_contents(
    struct mu_memory *memory, const struct mu_block *block);

/*
 * A hash of the stack that allocated BLOCK, usable bytes, as RECORDER, which
 * may be NULL, knows it; 0: it does not.
 */
uint32_t mu_known_stack(
    const struct mu_recorder *recorder, struct mu_range block);

/*
 * Blocks were marked. Mark those of KNOWN (by address) that are still
 * unreachable, of the same size and with the same first word and stack; what
 * they lead to stays as it is. Blocks must still be readable through MEMORY.
 * MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC) passed.
 */
enum mu_status mu_known_leave_out(const struct mu_blocks *blocks,
    struct mu_memory *memory, const struct mu_known *known, size_t count,
    uint64_t deadline_ns);

/*
 * The opposite: take the marks from those of KNOWN that are still allocated, by
 * the same rule. A stale word may have reached them for a moment.
 */
enum mu_status mu_known_unmark(const struct mu_blocks *blocks,
    struct mu_memory *memory, const struct mu_known *known, size_t count,
    uint64_t deadline_ns);

#endif

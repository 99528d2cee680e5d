/*
 * Which words refer to which blocks: the rule that marking, folding and listing
 * references share.
 *
 * Words are read at every step from the first position in a range on; at every
 * byte in executable memory, where they are operands of instructions, and in a
 * block that has such memory. Tags are removed. A word then refers to the block
 * that it points into, unless it lies in a block and is an old link of a free
 * list (mu_heap_ops.link()).
 */
#ifndef HEAPWALK_GRAPH_REFERENCES_H
#define HEAPWALK_GRAPH_REFERENCES_H

#include "heapwalk/heaps/heap.h"

/* Bytes from one word to the next. CODE: in executable memory. */
static inline size_t
mu_reference_step(const struct mu_blocks *blocks, bool code)
{
	return blocks->words.unaligned || code ? 1 : sizeof(uintptr_t);
}

/* The first position at or after ADDRESS where a word counts. */
static inline uintptr_t
mu_reference_first(const struct mu_blocks *blocks, bool code, uintptr_t address)
{
	return address + (-address & (mu_reference_step(blocks, code) - 1));
}

/*
 * Read the word at AT of RANGE, whose bytes are at VIEW. In code the last one
 * may have 32 bits. Returns false if there is none.
 */
static inline bool
mu_reference_word(struct mu_range range, const char *view, bool code,
    uintptr_t at, uintptr_t *word)
{
	size_t left = range.end - at;

	if (at >= range.end ||
	    left < (code ? sizeof(uint32_t) : sizeof(uintptr_t)))
		return false;
	*word = 0;
	__builtin_memcpy(word, view + (at - range.begin),
	    left < sizeof(*word) ? left : sizeof(*word));
	return true;
}

/*
 * Set BLOCKS->code from the executable mappings of SNAP. Returns false if
 * memory is exhausted.
 */
bool mu_references_find_code(struct mu_blocks *blocks,
    const struct mu_snapshot *snap, struct mu_arena *arena);

/* True if the block of RANGE has executable memory. */
bool mu_reference_in_code(
    const struct mu_blocks *blocks, struct mu_range range);

/* WORD without the bits that pointer_mask excludes. */
static inline uintptr_t
mu_reference_untag(const struct mu_blocks *blocks, uintptr_t word)
{
	return word & ~blocks->words.tags;
}

/*
 * The block that WORD refers to. ADDRESS is where it was read inside a block,
 * or 0 for a root.
 */
bool mu_reference_find(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t word, struct mu_block *to);

/*
 * Classify VALUE, read without tags at ADDRESS as above, which points into TO:
 * a reference, or something else.
 */
enum mu_heap_link mu_reference_link(const struct mu_blocks *blocks,
    uintptr_t address, uintptr_t value, const struct mu_block *to);

/*
 * The block that WORD, of a thread inside the allocator, refers to in the
 * allocator's way: mu_heap_ops.refers_by_header().
 */
bool mu_reference_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to);

#endif

/*
 * Which words refer to which blocks: the rule that marking, folding and listing
 * references share.
 *
 * Words are looked for at every step from the first place in a range on: at
 * every byte of executable memory, where they are operands of instructions, and
 * of a block that has such memory. Of each the tags are taken off; then it
 * refers to the block that it points into, unless it lies in a block and is a
 * left-over link of a free list (mu_heap_ops.link()).
 */
#ifndef HEAPWALK_GRAPH_REFERENCES_H
#define HEAPWALK_GRAPH_REFERENCES_H

#include "heapwalk/heaps/heap.h"

/* Bytes from one word that counts to the next; CODE: of executable memory. */
static inline size_t
mu_reference_step(const struct mu_blocks *blocks, bool code)
{
	return blocks->words.unaligned || code ? 1 : sizeof(uintptr_t);
}

/* The first place at or behind ADDRESS where a word counts. */
static inline uintptr_t
mu_reference_first(const struct mu_blocks *blocks, bool code, uintptr_t address)
{
	return address + (-address & (mu_reference_step(blocks, code) - 1));
}

/*
 * The word at AT of RANGE, whose bytes are at VIEW. Of code the last one may
 * have 32 bits. False: there is none.
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

/* Set BLOCKS->code, of what SNAP says is executable. False: no memory. */
bool mu_references_find_code(struct mu_blocks *blocks,
    const struct mu_snapshot *snap, struct mu_arena *arena);

/* Has the block of RANGE executable memory? */
bool mu_reference_in_code(
    const struct mu_blocks *blocks, struct mu_range range);

static inline uintptr_t
mu_reference_untag(const struct mu_blocks *blocks, uintptr_t word)
{
	return word & ~blocks->words.tags;
}

/*
 * The block that WORD refers to, which was read at ADDRESS inside a block, or
 * is a root: then ADDRESS is 0.
 */
bool mu_reference_find(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t word, struct mu_block *to);

/*
 * What VALUE, read without tags at ADDRESS as above, may be but a reference to
 * TO, the block that it points into.
 */
enum mu_heap_link mu_reference_link(const struct mu_blocks *blocks,
    uintptr_t address, uintptr_t value, const struct mu_block *to);

/*
 * The block that WORD, of a thread inside the allocator, refers to in the
 * allocator's own way: mu_heap_ops.refers_by_header().
 */
bool mu_reference_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to);

#endif

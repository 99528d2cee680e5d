/*
 * Which words refer to which blocks: the rule that marking, folding and listing
 * references share.
 *
 * Words are looked for at every step from the first place in a range on: at
 * every byte of executable memory, where they are operands of instructions, and
 * of a block that has such memory. Of each the tags are taken off; then it
 * refers to the block that it points into, unless it lies in a block and is a
 * left-over link of a free list.
 */
#ifndef HEAPWALK_GRAPH_REFERENCES_H
#define HEAPWALK_GRAPH_REFERENCES_H

#include "heapwalk/heaps/blocks.h"

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
 * The block whose chunk header WORD points at. Counts, beside what they refer
 * to as words, for aligned words of registers and innermost frames of threads
 * inside malloc (heapwalk/heaps/glibc/in_malloc.h).
 *
 * Such a thread has its chunk by the header only (mem2chunk() in glibc's
 * malloc.c): one that waits in _int_free() for a busy arena has no other
 * pointer to a block which is still in use. Elsewhere the same address is that
 * of the end of the block before, as a full std::vector has it.
 */
bool mu_reference_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to);

#endif

/* Operations on a single span, for heapwalk/heaps/blocks.c. */
#ifndef HEAPWALK_HEAPS_SPANS_H
#define HEAPWALK_HEAPS_SPANS_H

#include "heapwalk/heaps/blocks.h"

#define MU_WORD_BITS 64 /* of a bitmap */

/*
 * Record that a block or gap begins at grain BIT, which ends the one before it.
 * LIVE (0 or 1): it is a live block. MARK: its mark bit. No branches: back ends
 * call this for each block of a heap. The caller maintains count and bytes.
 */
static inline void
mu_span_begin(
    const struct mu_span *span, size_t bit, uint64_t live, uint64_t mark)
{
	size_t word = bit / MU_WORD_BITS;
	unsigned shift = bit % MU_WORD_BITS;

	*mu_span_starts(span, word) |= live << shift;
	*mu_span_marks(span, word) |= mark << shift;
	span->bounds[word] |= 1ull << shift;
	span->summary[word / MU_WORD_BITS] |= 1ull << (word % MU_WORD_BITS);
}

/* Undo mu_span_begin() at BIT. */
static inline void
mu_span_unset(const struct mu_span *span, size_t bit)
{
	uint64_t mask = 1ull << (bit % MU_WORD_BITS);
	size_t word = bit / MU_WORD_BITS;

	*mu_span_starts(span, word) &= ~mask;
	*mu_span_marks(span, word) &= ~mask;
	span->bounds[word] &= ~mask;
	if (span->bounds[word] == 0)
		span->summary[word / MU_WORD_BITS] &=
		    ~(1ull << (word % MU_WORD_BITS));
}

/* The end of a block, searching the bounds from WORD on; see mu_span_end(). */
size_t mu_span_far_end(const struct mu_span *span, size_t word);

/*
 * The end of the block whose start bit is BIT of WORD: the offset in SPAN of
 * the first byte after its usable ones.
 */
static inline size_t
mu_span_end(const struct mu_span *span, size_t word, unsigned bit)
{
	uint64_t bits = span->bounds[word] >> bit >> 1;

	if (bits == 0)
		return mu_span_far_end(span, word + 1);
	return (word * MU_WORD_BITS + bit + 1 + (size_t)__builtin_ctzll(bits)) *
	    MU_GRAIN -
	    span->tail;
}

/* Bit i is set if block NUMBER + i is marked. */
uint64_t mu_marks_from(const struct mu_blocks *blocks, uint32_t number);

/* Mark the blocks NUMBER + i for which bit i is set. Not while others mark. */
void mu_marks_add(
    const struct mu_blocks *blocks, uint32_t number, uint64_t bits);

/* For each bit n of PICKED: the n-th of the bits that are set in BITS. */
uint64_t mu_bits_picked(uint64_t bits, uint64_t picked);

/* The start bits of WORD whose blocks are not marked. */
uint64_t mu_span_unmarked(
    const struct mu_blocks *blocks, const struct mu_span *span, size_t word);

/* The block whose start bit is BIT of WORD. */
void mu_span_block(const struct mu_blocks *blocks, const struct mu_span *span,
    size_t word, unsigned bit, struct mu_block *block);

/* The block of SPAN that holds VALUE, an address in the span. */
bool mu_span_find(const struct mu_blocks *blocks, const struct mu_span *span,
    uintptr_t value, struct mu_block *block);

/* The start bits of WORD whose blocks have numbers in OF (mu/bits.h). */
uint64_t mu_span_of(
    const struct mu_span *span, size_t word, const uint64_t *of);

/* Which blocks to visit: those with numbers in OF, unless that is NULL. */
struct mu_span_which {
	bool unmarked; /* those without a mark only */
	const uint64_t *of;
};

/* Visit blocks of SPAN, by address. Returns false if VISIT did. */
bool mu_span_each(const struct mu_blocks *blocks, const struct mu_span *span,
    struct mu_span_which which,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

#endif

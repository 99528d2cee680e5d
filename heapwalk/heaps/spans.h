/* A single heap range: the operations that heapwalk/heaps/blocks.c uses. */
#ifndef HEAPWALK_HEAPS_SPANS_H
#define HEAPWALK_HEAPS_SPANS_H

#include "heapwalk/heaps/blocks.h"

#define MU_WORD_BITS 64 /* of a bitmap */

/*
 * COUNT objects, STRIDE bytes apart and sorted by the range that each begins
 * with: the index of the first that begins past ADDRESS.
 */
static inline size_t
mu_ranges_upper(
    const void *ranges, size_t count, size_t stride, uintptr_t address)
{
	const struct mu_range *range;
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		range = (const void *)((const char *)ranges + middle * stride);
		if (range->begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define MU_SPAN_FLAGS 7      /* of a chunk's size word */
#define MU_SPAN_MIN_CHUNK 32 /* MINSIZE on LP64 */

/*
 * Usable bytes of the block whose bytes are at VIEW, by the chunk header right
 * before it; ROOM bytes are left in its span.
 */
static inline size_t
mu_span_usable(const char *view, size_t room)
{
	size_t size;

	__builtin_memcpy(&size, view - sizeof(size), sizeof(size));
	size &= ~(size_t)MU_SPAN_FLAGS;
	/* A chunk's last word is the next one's prev_size field. */
	size = size < MU_SPAN_MIN_CHUNK ? 1 : size - sizeof(size);
	return size < room ? size : room;
}

/* Bit i: NUMBER + i is marked. */
uint64_t mu_marks_from(const struct mu_blocks *blocks, uint32_t number);

/* Of the start bits of WORD those whose block is not marked. */
uint64_t mu_span_unmarked(
    const struct mu_blocks *blocks, const struct mu_span *span, size_t word);

/* The block whose start bit is BIT of WORD. */
void mu_span_block(const struct mu_blocks *blocks, const struct mu_span *span,
    size_t word, unsigned bit, struct mu_block *block);

/* The block of SPAN that VALUE, an address in the span, points into. */
bool mu_span_find(const struct mu_blocks *blocks, const struct mu_span *span,
    uintptr_t value, struct mu_block *block);

/*
 * Every block of SPAN, or every one without a mark, by address. False once
 * VISIT returned false.
 */
bool mu_span_each(const struct mu_blocks *blocks, const struct mu_span *span,
    bool unmarked, bool (*visit)(void *ctx, const struct mu_block *block),
    void *ctx);

#endif

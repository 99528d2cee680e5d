/*
 * The live blocks of one heap stretch, as bits.
 */
#include "heapwalk/heaps/spans.h"

#define HEADER 16 /* struct malloc_chunk up to the user's bytes */
#define WORD_BITS MU_WORD_BITS
#define ALL_BITS (~0ull) /* of a bitmap word */

/* Place of the next live block while walking a span. */
struct span_cursor {
	const struct mu_blocks *blocks;
	const struct mu_span *span;
	size_t word;   /* index into the bitmaps */
	uint64_t bits; /* of that word, still to be visited */
	bool unmarked; /* only blocks without a mark */
};

/* Usable bytes of the block at START; its header is in the span. */
static size_t
usable_size(const struct mu_span *span, uintptr_t start)
{
	return mu_span_usable(
	    span->view + (start - span->range.begin), span->range.end - start);
}

static bool
has_bit(const struct mu_span *span, uintptr_t address)
{
	return address % MU_GRAIN == 0 && address < span->range.end &&
	    address >= span->range.begin + HEADER;
}

void
mu_span_block(const struct mu_blocks *blocks, const struct mu_span *span,
    size_t word, unsigned bit, struct mu_block *block)
{
	size_t offset = (word * WORD_BITS + bit) * MU_GRAIN;
	uintptr_t start = span->range.begin + offset;

	block->range =
	    (struct mu_range) { start, start + usable_size(span, start) };
	block->view = span->view + offset;
	block->listed = NULL;
	block->number = blocks->numbered ? mu_span_number(span, word, bit) : 0;
	block->mark =
	    blocks->marks == NULL ? NULL : &blocks->marks[block->number];
}

/* The highest word of start bits below WORD that has any. */
static bool
word_before(const struct mu_span *span, size_t *word)
{
	size_t index = *word / WORD_BITS, left = *word % WORD_BITS;
	uint64_t bits = span->summary[index] & ((1ull << left) - 1);

	for (;; bits = span->summary[--index]) {
		for (; bits != 0; bits &= ~(1ull << left)) {
			left = WORD_BITS - 1 - (size_t)__builtin_clzll(bits);
			*word = index * WORD_BITS + left;
			if (*mu_span_starts(span, *word) != 0)
				return true;
		}
		if (index == 0)
			return false;
	}
}

static uint64_t
cursor_bits(const struct span_cursor *cursor)
{
	uint64_t bits = *mu_span_starts(cursor->span, cursor->word);

	return cursor->unmarked && cursor->blocks->marks != NULL
	    ? mu_span_unmarked(cursor->blocks, cursor->span, cursor->word)
	    : bits;
}

static bool
cursor_next(struct span_cursor *cursor, struct mu_block *block)
{
	while (cursor->bits == 0) {
		if (++cursor->word >= cursor->span->num_words)
			return false;
		cursor->bits = cursor_bits(cursor);
	}
	mu_span_block(cursor->blocks, cursor->span, cursor->word,
	    (unsigned)__builtin_ctzll(cursor->bits), block);
	cursor->bits &= cursor->bits - 1;
	return true;
}

bool
mu_span_test(const struct mu_span *span, uintptr_t address)
{
	size_t bit = (address - span->range.begin) / MU_GRAIN;

	return has_bit(span, address) &&
	    (*mu_span_starts(span, bit / WORD_BITS) >> (bit % WORD_BITS) & 1) !=
	    0;
}

void
mu_span_set(struct mu_span *span, uintptr_t address)
{
	size_t bit = (address - span->range.begin) / MU_GRAIN;
	size_t word = bit / WORD_BITS;

	if (!has_bit(span, address) || mu_span_test(span, address))
		return;
	*mu_span_starts(span, word) |= 1ull << (bit % WORD_BITS);
	span->summary[word / WORD_BITS] |= 1ull << (word % WORD_BITS);
	span->count++;
	span->bytes += usable_size(span, address);
}

void
mu_span_clear(struct mu_span *span, uintptr_t address)
{
	size_t bit = (address - span->range.begin) / MU_GRAIN;
	size_t word = bit / WORD_BITS;
	uint64_t *starts = mu_span_starts(span, word);

	if (!mu_span_test(span, address))
		return;
	*starts &= ~(1ull << (bit % WORD_BITS));
	/* Or mu_span_find() would look at each word of what is free now. */
	if (*starts == 0)
		span->summary[word / WORD_BITS] &=
		    ~(1ull << (word % WORD_BITS));
	span->count--;
	span->bytes -= usable_size(span, address);
}

bool
mu_span_find(const struct mu_blocks *blocks, const struct mu_span *span,
    uintptr_t value, struct mu_block *block)
{
	size_t bit = (value - span->range.begin) / MU_GRAIN;
	size_t word = bit / WORD_BITS;
	uint64_t bits = *mu_span_starts(span, word) &
	    (ALL_BITS >> (WORD_BITS - 1 - bit % WORD_BITS));

	if (bits == 0) {
		if (!word_before(span, &word))
			return false;
		bits = *mu_span_starts(span, word);
	}
	mu_span_block(blocks, span, word,
	    WORD_BITS - 1 - (unsigned)__builtin_clzll(bits), block);
	return value < block->range.end;
}

bool
mu_span_each(const struct mu_blocks *blocks, const struct mu_span *span,
    bool unmarked, bool (*visit)(void *ctx, const struct mu_block *block),
    void *ctx)
{
	struct span_cursor cursor = {
		.blocks = blocks, .span = span, .unmarked = unmarked
	};
	struct mu_block block;

	if (span->num_words == 0)
		return true;
	cursor.bits = cursor_bits(&cursor);
	while (cursor_next(&cursor, &block)) {
		if (!visit(ctx, &block))
			return false;
	}
	return true;
}

/* The live blocks of one stretch of heap, as bits. */
#include "heapwalk/heaps/spans.h"

#define WORD_BITS MU_WORD_BITS
#define ALL_BITS (~0ull) /* of a bitmap word */

/* Position of the next live block in a walk over a span. */
struct span_cursor {
	const struct mu_blocks *blocks;
	const struct mu_span *span;
	size_t word;   /* index into the bitmaps */
	uint64_t bits; /* bits of that word still to be visited */
	struct mu_span_which which;
};

static bool
has_bit(const struct mu_span *span, uintptr_t address)
{
	return address % MU_GRAIN == 0 && mu_range_has(span->range, address);
}

/*
 * Move *WORD to the next word, from it on (the last one before it), that has
 * bounds.
 */
static bool
word_behind(const struct mu_span *span, size_t *word)
{
	size_t index = *word / WORD_BITS;
	size_t last = (span->num_words - 1) / WORD_BITS;
	uint64_t bits;

	if (*word >= span->num_words)
		return false;
	bits = span->summary[index] & (ALL_BITS << (*word % WORD_BITS));
	while (bits == 0 && index < last)
		bits = span->summary[++index];
	*word = index * WORD_BITS + (size_t)__builtin_ctzll(bits | 1ull << 63);
	return bits != 0;
}

static bool
word_before(const struct mu_span *span, size_t *word)
{
	size_t index = *word / WORD_BITS;
	uint64_t bits =
	    span->summary[index] & ((1ull << (*word % WORD_BITS)) - 1);

	while (bits == 0 && index > 0)
		bits = span->summary[--index];
	*word = index * WORD_BITS + WORD_BITS - 1 -
	    (size_t)__builtin_clzll(bits | 1);
	return bits != 0;
}

size_t
mu_span_far_end(const struct mu_span *span, size_t word)
{
	if (!word_behind(span, &word))
		return mu_range_size(span->range);
	return (word * WORD_BITS +
		   (size_t)__builtin_ctzll(span->bounds[word])) *
	    MU_GRAIN -
	    span->tail;
}

void
mu_span_block(const struct mu_blocks *blocks, const struct mu_span *span,
    size_t word, unsigned bit, struct mu_block *block)
{
	size_t offset = (word * WORD_BITS + bit) * MU_GRAIN;

	block->range = (struct mu_range) { span->range.begin + offset,
		span->range.begin + mu_span_end(span, word, bit) };
	block->view = span->view + offset;
	block->listed = NULL;
	block->heap = span->heap;
	block->number = blocks->numbered ? mu_span_number(span, word, bit) : 0;
	block->mark =
	    blocks->marks == NULL ? NULL : &blocks->marks[block->number];
}

static uint64_t
cursor_bits(const struct span_cursor *cursor)
{
	uint64_t bits = *mu_span_starts(cursor->span, cursor->word);

	if (cursor->which.of != NULL)
		return mu_span_of(cursor->span, cursor->word, cursor->which.of);
	return cursor->which.unmarked && cursor->blocks->marks != NULL
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
mu_span_clear(struct mu_span *span, uintptr_t address)
{
	size_t bit = (address - span->range.begin) / MU_GRAIN;
	size_t word = bit / WORD_BITS;

	if (!mu_span_test(span, address))
		return;
	*mu_span_starts(span, word) &= ~(1ull << (bit % WORD_BITS));
	span->count--;
	span->bytes -=
	    mu_span_end(span, word, bit % WORD_BITS) - bit * MU_GRAIN;
}

bool
mu_span_find(const struct mu_blocks *blocks, const struct mu_span *span,
    uintptr_t value, struct mu_block *block)
{
	size_t bit = (value - span->range.begin) / MU_GRAIN;
	size_t word = bit / WORD_BITS;
	uint64_t bits = span->bounds[word] &
	    (ALL_BITS >> (WORD_BITS - 1 - bit % WORD_BITS));
	unsigned first;

	if (bits == 0) {
		if (!word_before(span, &word))
			return false;
		bits = span->bounds[word];
	}
	first = WORD_BITS - 1 - (unsigned)__builtin_clzll(bits);
	if ((*mu_span_starts(span, word) >> first & 1) == 0)
		return false;
	mu_span_block(blocks, span, word, first, block);
	return value < block->range.end;
}

bool
mu_span_each(const struct mu_blocks *blocks, const struct mu_span *span,
    struct mu_span_which which,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx)
{
	struct span_cursor cursor = {
		.blocks = blocks, .span = span, .which = which
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

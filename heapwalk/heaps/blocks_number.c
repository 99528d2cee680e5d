/* Give every live block a number, and a mark for the number. */
#include <string.h>

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/spans.h"
#include "mu/bisect.h"
#include "mu/bits.h"

#define WORD_BITS MU_WORD_BITS

static void
number_span(struct mu_span *span, size_t *next)
{
	size_t word;

	span->first = (uint32_t)*next;
	for (word = 0; word < span->num_words; word++) {
		*mu_span_marks(span, word) = *next;
		*next += mu_popcount(*mu_span_starts(span, word));
	}
	*mu_span_marks(span, word) = *next;
}

/* A listed block and a span never overlap, so merging by address is enough. */
size_t
mu_blocks_number(struct mu_blocks *blocks)
{
	struct mu_listed *listed;
	size_t i, j = 0, next = 0;

	for (i = 0; i < blocks->num_listed; i++) {
		listed = &blocks->listed[i];
		for (; j < blocks->num_spans &&
		     blocks->spans[j].range.begin < listed->range.begin;
		     j++)
			number_span(&blocks->spans[j], &next);
		listed->number = (uint32_t)next++;
	}
	for (; j < blocks->num_spans; j++)
		number_span(&blocks->spans[j], &next);
	blocks->numbered = true;
	return next;
}

bool
mu_blocks_unmark(struct mu_blocks *blocks, struct mu_arena *arena, size_t count)
{
	/* Marks are read 64 at a time, starting at any number. */
	blocks->marks = mu_arena_alloc_table(arena, count + WORD_BITS, 1);
	blocks->followed = mu_arena_alloc(
	    arena, count / WORD_BITS + 1, sizeof(*blocks->followed));
	return blocks->marks != NULL && blocks->followed != NULL;
}

/* Bit i: byte i of eight, each 0 or 1. */
static inline uint64_t
gather(const uint8_t *marks)
{
	uint64_t bytes;

	memcpy(&bytes, marks, sizeof(bytes));
	return (bytes * 0x0102040810204080ull) >> 56;
}

uint64_t
mu_marks_from(const struct mu_blocks *blocks, uint32_t number)
{
	const uint8_t *marks = &blocks->marks[number];
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < WORD_BITS; i += 8)
		bits |= gather(marks + i) << i;
	return bits;
}

/* Byte i: bit i. */
static inline uint64_t
spread(uint8_t bits)
{
	uint64_t bytes = bits * 0x0101010101010101ull & 0x8040201008040201ull;

	/* A byte is 0 or has one bit. */
	return (bytes + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
}

void
mu_marks_add(const struct mu_blocks *blocks, uint32_t number, uint64_t bits)
{
	uint8_t *marks = &blocks->marks[number];
	uint64_t bytes;

	for (; bits != 0; bits >>= 8, marks += 8) {
		memcpy(&bytes, marks, sizeof(bytes));
		bytes |= spread((uint8_t)bits);
		memcpy(marks, &bytes, sizeof(bytes));
	}
}

uint64_t
mu_bits_picked(uint64_t bits, uint64_t picked)
{
	uint64_t found = 0;

	for (; bits != 0 && picked != 0; bits &= bits - 1, picked >>= 1)
		if (picked & 1)
			found |= bits & -bits;
	return found;
}

uint64_t
mu_span_unmarked(
    const struct mu_blocks *blocks, const struct mu_span *span, size_t word)
{
	uint64_t bits = *mu_span_starts(span, word);

	return bits == 0
	    ? 0
	    : mu_bits_picked(
		  bits, ~mu_marks_from(blocks, mu_span_rank(span, word)));
}

uint64_t
mu_span_of(const struct mu_span *span, size_t word, const uint64_t *of)
{
	uint64_t bits = *mu_span_starts(span, word);
	uint32_t first = mu_span_rank(span, word);

	return bits == 0 ? 0
			 : mu_bits_picked(bits,
			       mu_bits_from(of, first,
				   mu_span_rank(span, word + 1) - first));
}

/* The word of SPAN that has the start bit of block NUMBER. */
static size_t
word_of(const struct mu_span *span, uint32_t number)
{
	size_t low = 0, high = span->num_words, middle, step;

	/* Numbers grow at about the same rate in all words. */
	middle = (size_t)((double)(number - span->first) /
	    (double)(span->count + 1) * (double)span->num_words);
	for (step = 1; high - low > 1; step *= 2) {
		if (middle <= low || middle >= high)
			middle = low + (high - low) / 2;
		if (mu_span_rank(span, middle) <= number) {
			low = middle;
			middle += step;
		} else {
			high = middle;
			middle = middle > step ? middle - step : 0;
		}
	}
	return low;
}

static bool
span_at(const struct mu_blocks *blocks, const struct mu_span *span,
    uint32_t number, struct mu_block *block)
{
	size_t word = word_of(span, number);
	uint64_t bits = *mu_span_starts(span, word);
	uint32_t skip = number - mu_span_rank(span, word);

	while (skip-- > 0)
		bits &= bits - 1;
	if (bits == 0)
		return false;
	mu_span_block(
	    blocks, span, word, (unsigned)__builtin_ctzll(bits), block);
	return true;
}

bool
mu_blocks_at(
    const struct mu_blocks *blocks, uint32_t number, struct mu_block *block)
{
	size_t low = 0;

	mu_bisect(low, blocks->num_spans, i, blocks->spans[i].first <= number);
	/* A word without a block has the same first number as the next word. */
	if (low > 0 &&
	    number < mu_span_rank(&blocks->spans[low - 1],
			 blocks->spans[low - 1].num_words))
		return span_at(blocks, &blocks->spans[low - 1], number, block);
	low = 0;
	mu_bisect(
	    low, blocks->num_listed, i, blocks->listed[i].number <= number);
	return low > 0 && blocks->listed[low - 1].number == number &&
	    mu_blocks_find(blocks, blocks->listed[low - 1].range.begin, block);
}

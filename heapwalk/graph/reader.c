#include "heapwalk/graph/reader.h"

#include <string.h>

#include "heapwalk/graph/graph.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/spans.h"
#include "mu/arch/words.h"

#define WORD sizeof(uintptr_t)
#define EMPTY_SHIFT 20  /* small, since libraries may lie next to heaps */
#define REGION_SHIFT 26 /* spans are rarely larger than 64 MiB */
#define UNRESOLVED (MU_NO_NODE - 1)
#define KNOWN UINTPTR_MAX /* not an address: the target is known */

/*
 * Distance at which pages are prefetched that the walk has not visited (as in a
 * walk over all blocks): blocks of 16 to 60 KiB, 300 MB of them, are read in 45
 * to 80 ms instead of 90 to 140 (2 cores EPYC, kernel 6.18, load 10).
 */
#define AHEAD ((size_t)32 << 10)

/*
 * What the CPU itself prefetches ends with each page. Of each KiB all lines are
 * called for so many bytes before they are read: 43.3 in place of 47.0 ms of
 * CPU time for a check of a tree of 10^6, 85.2 in place of 90.6 for a graph.
 */
#define NEAR ((size_t)2 << 10)
#define LINE 64

/* For what is compiled twice, with MU_ARCH_BITS and without. */
#define INLINED static inline __attribute__((always_inline))

/*
 * True if ADDRESS is known to be in no block. A NULL from find_span() does not
 * show that.
 */
static bool
in_empty(struct mu_reader *reader, uintptr_t address)
{
	uintptr_t number = address >> EMPTY_SHIFT;
	uintptr_t *known = &reader->empty[number % MU_READER_REGIONS];
	struct mu_range region = { number << EMPTY_SHIFT,
		(number + 1) << EMPTY_SHIFT };

	if (*known == number)
		return true;
	if (!mu_blocks_empty(reader->blocks, region))
		return false;
	*known = number;
	return true;
}

/* The span that holds ADDRESS, or NULL. */
INLINED const struct mu_span *
find_span(struct mu_reader *reader, uintptr_t address)
{
	const struct mu_span **known =
	    &reader->spans[(address >> REGION_SHIFT) % MU_READER_REGIONS];
	const struct mu_span *span = *known;

	if (span == NULL || !mu_range_has(span->range, address)) {
		span = mu_blocks_span(reader->blocks, address);
		if (span != NULL)
			*known = span;
	}
	return span;
}

INLINED size_t
grain_of(const struct mu_span *span, uintptr_t value)
{
	return (value - span->range.begin) / MU_GRAIN;
}

/*
 * Queue VALUE, read at ADDRESS of NODE, until its bitmap words are in the
 * cache.
 */
INLINED void
take_word(
    struct mu_reader *reader, uint32_t node, uintptr_t value, uintptr_t address)
{
	const struct mu_span *span = find_span(reader, value);
	size_t i;

	if (span == NULL && in_empty(reader, value))
		return;
	if (reader->count == MU_READER_WORDS)
		mu_reader_flush(reader);
	i = reader->count++;
	reader->nodes[i] = node;
	reader->values[i] = value;
	reader->addresses[i] = address;
	reader->word_spans[i] = span;
	if (span != NULL)
		__builtin_prefetch(
		    mu_span_starts(span, grain_of(span, value) / MU_WORD_BITS));
}

/*
 * Resolve word I by its position alone; prefetch the bounds if they are needed.
 */
INLINED void
locate(struct mu_reader *reader, size_t i)
{
	const struct mu_span *span = reader->word_spans[i];
	size_t grain, word;
	uint64_t bits;

	reader->links[i] = 0;
	reader->targets[i] = UNRESOLVED;
	if (span == NULL) {
		if (reader->addresses[i] == KNOWN)
			reader->targets[i] = (uint32_t)reader->values[i];
		return;
	}
	grain = grain_of(span, reader->values[i]);
	word = grain / MU_WORD_BITS;
	bits = *mu_span_starts(span, word) &
	    (~0ull >> (MU_WORD_BITS - 1 - grain % MU_WORD_BITS));
	if ((bits >> (grain % MU_WORD_BITS)) != 0) {
		/* The first grain of a block: its end need not be known. */
		reader->targets[i] =
		    mu_span_number(span, word, grain % MU_WORD_BITS);
		return;
	}
	__builtin_prefetch(&span->bounds[word]);
}

/* Resolve word I, which points into the middle of a block, or into none. */
static void
look_up(struct mu_reader *reader, size_t i)
{
	const struct mu_blocks *blocks = reader->blocks;
	const struct mu_span *span = reader->word_spans[i];
	uintptr_t value = reader->values[i], address = reader->addresses[i];
	static const uint32_t links[] = {
		[MU_HEAP_NO_LINK] = 0,
		[MU_HEAP_LINK] = MU_TARGET_LINK,
		[MU_HEAP_OLD_LINK] = MU_TARGET_LINK | MU_LINK_STALE,
	};
	struct mu_block block;

	reader->targets[i] = MU_NO_NODE;
	if (span != NULL ? !mu_span_find(blocks, span, value, &block)
			 : !mu_blocks_find(blocks, value, &block))
		return;
	reader->targets[i] = block.number;
	reader->links[i] =
	    links[mu_reference_link(blocks, address, value, &block)];
}

INLINED void
locate_each(struct mu_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->count; i++)
		locate(reader, i);
}

/*
 * The same by instructions that not every CPU has: 67 in place of 75 ms of CPU
 * time for a check of a graph of 10^6 blocks, with those of read_by_bits().
 */
MU_ARCH_BITS static void
locate_by_bits(struct mu_reader *reader)
{
	locate_each(reader);
}

void
mu_reader_flush(struct mu_reader *reader)
{
	size_t i;

	if (reader->bits)
		locate_by_bits(reader);
	else
		locate_each(reader);
	for (i = 0; i < reader->count; i++)
		if (reader->targets[i] == UNRESOLVED)
			look_up(reader, i);
	reader->full(reader);
	reader->count = 0;
}

/* Inline, so that the common case costs nothing. */
INLINED void
read_each(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, bool root, size_t step)
{
	struct mu_range envelope = reader->blocks->envelope;
	uintptr_t tags = reader->blocks->words.tags;
	uintptr_t address = range.begin, value, word;

	for (; range.end - address >= WORD; address += step, view += step) {
		memcpy(&word, view, WORD);
		value = word & ~tags;
		/* A word with tags is not a link of malloc's. */
		if (mu_range_has(envelope, value))
			take_word(reader, node, value,
			    root || value != word ? 0 : address);
	}
}

static inline void
read_filtered(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, bool root)
{
	uintptr_t lowest = reader->blocks->envelope.begin;
	size_t width = mu_range_size(reader->blocks->envelope);
	size_t left = mu_range_size(range) / WORD, count, at;
	uintptr_t address = range.begin, value;
	uint64_t found;

	for (; left > 0; left -= count) {
		count = left < MU_WORDS_MAX ? left : MU_WORDS_MAX;
		__builtin_prefetch(view + AHEAD);
		found = reader->filter(view, count, lowest, width);
		for (; found != 0; found &= found - 1) {
			at = (size_t)__builtin_ctzll(found) * WORD;
			memcpy(&value, view + at, WORD);
			take_word(reader, node, value, root ? 0 : address + at);
		}
		view += count * WORD;
		address += count * WORD;
	}
}

/* Running the filter eight times is faster than testing each byte. */
static void
read_everywhere(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, bool root)
{
	size_t shift;

	if (reader->blocks->words.tags != 0) {
		read_each(reader, node, view, range, root, 1);
		return;
	}
	for (shift = 0; shift < WORD && mu_range_size(range) >= WORD; shift++) {
		read_filtered(reader, node, view + shift, range, root);
		range.begin++;
	}
}

/* Read 32-bit addresses. */
static void
read_halves(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range)
{
	struct mu_range envelope = reader->blocks->envelope;
	size_t left = mu_range_size(range);
	uint32_t half;

	for (; left >= sizeof(half); left--, view++) {
		memcpy(&half, view, sizeof(half));
		if (mu_range_has(envelope, half))
			take_word(reader, node, half, 0);
	}
}

void
mu_reader_words(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, enum mu_words_of of)
{
	const struct mu_word_rule *rule = &reader->blocks->words;
	bool root = of == MU_WORDS_ROOT || of == MU_WORDS_CODE;
	bool code = of == MU_WORDS_CODE || of == MU_WORDS_BLOCK_CODE;
	uintptr_t begin = range.begin;

	if (code && reader->blocks->envelope.begin <= UINT32_MAX)
		read_halves(reader, node, view, range);
	if (rule->unaligned || code) {
		read_everywhere(reader, node, view, range, root);
		return;
	}
	range.begin = mu_reference_first(reader->blocks, false, begin);
	if (range.begin >= range.end)
		return;
	view += range.begin - begin;
	if (rule->tags == 0)
		read_filtered(reader, node, view, range, root);
	else
		read_each(reader, node, view, range, root, WORD);
}

/* Move to the block of SPAN whose start bit is BIT of WORD. */
INLINED void
come_to(struct mu_reader *reader, const struct mu_span *span, size_t word,
    unsigned bit)
{
	size_t offset = (word * MU_WORD_BITS + bit) * MU_GRAIN, size;
	uintptr_t begin = span->range.begin + offset;

	if (begin == reader->begin)
		return;
	size = mu_span_end(span, word, bit) - offset;
	reader->begin = begin;
	/* The parts of a large block are read separately. */
	reader->end = size > MU_GRAPH_LARGE ? begin : begin + size;
	reader->node = mu_span_number(span, word, bit);
}

/*
 * Take the word at OFFSET in SPAN, in the grain of BIT of WORD. Words outside
 * of blocks are skipped. Whether it is in the same block as the one before is
 * not asked: a CPU cannot predict that.
 */
INLINED void
take_candidate(struct mu_reader *reader, const struct mu_span *span,
    size_t word, unsigned bit, size_t offset)
{
	uint64_t until = ~0ull >> (MU_WORD_BITS - 1 - bit);
	uint64_t starts = *mu_span_starts(span, word) & until;
	uint64_t bounds = span->bounds[word], behind = bounds & ~until;
	uintptr_t address = span->range.begin + offset, value, end;
	uint32_t node;

	if (starts != 0 && behind != 0) {
		/* A gap begins behind the last block. */
		if ((starts ^ (bounds & until)) > starts)
			return;
		end = (word * MU_WORD_BITS + (size_t)__builtin_ctzll(behind)) *
			MU_GRAIN -
		    span->tail + span->range.begin;
		node = mu_span_rank(span, word) + mu_popcount(starts) - 1;
	} else {
		if (starts != 0)
			come_to(reader, span, word,
			    MU_WORD_BITS - 1 -
				(unsigned)__builtin_clzll(starts));
		end = reader->end;
		node = reader->node;
	}
	if (address + WORD > end)
		return;
	memcpy(&value, span->view + offset, WORD);
	take_word(reader, node, value, address);
}

INLINED void
read_bitmap_word(
    struct mu_reader *reader, const struct mu_span *span, size_t word)
{
	uintptr_t lowest = reader->blocks->envelope.begin;
	size_t width = mu_range_size(reader->blocks->envelope);
	size_t offset = word * MU_WORD_BITS * MU_GRAIN;
	size_t end = offset + MU_WORD_BITS * MU_GRAIN, count;
	uint64_t found, bits = *mu_span_starts(span, word);
	unsigned i, bit = 0;

	if (bits == 0 && reader->end <= span->range.begin + offset)
		return;
	__builtin_prefetch(span->view + offset + AHEAD);
	for (i = 0; i < MU_WORD_BITS * MU_GRAIN; i += LINE)
		__builtin_prefetch(span->view + offset + NEAR + i);
	if (end > mu_range_size(span->range))
		end = mu_range_size(span->range);
	for (; offset < end; offset += count * WORD) {
		count = (end - offset) / WORD;
		if (count > MU_WORDS_MAX)
			count = MU_WORDS_MAX;
		found =
		    reader->filter(span->view + offset, count, lowest, width);
		for (; found != 0; found &= found - 1) {
			i = (unsigned)__builtin_ctzll(found);
			take_candidate(reader, span, word,
			    bit + i * (unsigned)WORD / MU_GRAIN,
			    offset + i * WORD);
		}
		bit += MU_WORDS_MAX * (unsigned)WORD / MU_GRAIN;
	}
	if (bits != 0)
		come_to(reader, span, word,
		    MU_WORD_BITS - 1 - (unsigned)__builtin_clzll(bits));
}

INLINED void
read_bitmap(struct mu_reader *reader, const struct mu_span *span, size_t word,
    size_t end)
{
	for (; word < end; word++)
		read_bitmap_word(reader, span, word);
}

MU_ARCH_BITS static void
read_by_bits(struct mu_reader *reader, const struct mu_span *span, size_t word,
    size_t end)
{
	read_bitmap(reader, span, word, end);
}

struct mu_range
mu_reader_span(struct mu_reader *reader, const struct mu_span *span,
    size_t word, size_t end)
{
	uintptr_t stop = span->range.begin + end * MU_WORD_BITS * MU_GRAIN;

	reader->begin = reader->end = 0;
	if (reader->bits)
		read_by_bits(reader, span, word, end);
	else
		read_bitmap(reader, span, word, end);
	return (struct mu_range) { stop, reader->end };
}

void
mu_reader_value(struct mu_reader *reader, uint32_t node, uintptr_t value)
{
	value = mu_reference_untag(reader->blocks, value);
	if (mu_range_has(reader->blocks->envelope, value))
		take_word(reader, node, value, 0);
}

void
mu_reader_target(struct mu_reader *reader, uint32_t node, uint32_t target)
{
	size_t i;

	if (reader->count == MU_READER_WORDS)
		mu_reader_flush(reader);
	i = reader->count++;
	reader->nodes[i] = node;
	reader->values[i] = target;
	reader->addresses[i] = KNOWN;
	reader->word_spans[i] = NULL;
}

void
mu_reader_open(struct mu_reader *reader, const struct mu_graph *graph,
    void (*full)(struct mu_reader *reader), void *ctx)
{
	reader->blocks = graph->blocks;
	reader->filter = graph->filter;
	reader->bits = mu_words_bits(graph->filter);
	reader->full = full;
	reader->ctx = ctx;
	reader->count = 0;
	memset(reader->spans, 0, sizeof(reader->spans));
	/* A number that no region has. */
	memset(reader->empty, 0xff, sizeof(reader->empty));
}

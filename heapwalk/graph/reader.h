/*
 * Convert words to targets: the work of one thread.
 *
 * Three loops, each over what the one before has asked memory for: words that
 * may point into a block, their places in the bitmaps, bounds of blocks that
 * they point into the middle of. A miss that is waited for costs 40 times as
 * much as one of many.
 */
#ifndef HEAPWALK_GRAPH_READER_H
#define HEAPWALK_GRAPH_READER_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/graph/words.h"

#define MU_READER_WORDS 192
#define MU_READER_REGIONS 64

struct mu_reader {
	const struct mu_blocks *blocks;
	mu_words_filter *filter;

	/* Called when there is no room for more words, and at the end. */
	void (*full)(struct mu_reader *reader);
	void *ctx; /* FULL's */

	/* For FULL: each word's source, and what it refers to. */
	size_t count;
	uint32_t nodes[MU_READER_WORDS];
	uint32_t targets[MU_READER_WORDS]; /* or MU_NO_NODE */
	/* 0, or MU_TARGET_LINK and its like: see heapwalk/graph/graph.h */
	uint32_t links[MU_READER_WORDS];

	/* Of mu_reader_span(): the block that it has come to. */
	uint32_t node;
	uintptr_t begin, end;

	/* The reader's own: words that wait. */
	uintptr_t values[MU_READER_WORDS], addresses[MU_READER_WORDS];
	const struct mu_span *places[MU_READER_WORDS];

	/* Where an address was found to be, by its upper bits. */
	const struct mu_span *spans[MU_READER_REGIONS];
	uintptr_t empty[MU_READER_REGIONS]; /* regions without any block */
};

void mu_reader_open(struct mu_reader *reader, const struct mu_graph *graph,
    void (*full)(struct mu_reader *reader), void *ctx);

/* All words of RANGE, of NODE, that count by blocks->words. */
void mu_reader_words(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, enum mu_words_of of);

/*
 * All words of the blocks that start in words WORD to END - 1 of SPAN's bitmap,
 * up to where word END begins, but for large blocks. Where every word that
 * counts is aligned and has no tags: faster than block by block, as most words
 * refer to nothing. The result is what is left of the last block, if anything:
 * that is reader->node's.
 */
struct mu_range mu_reader_span(struct mu_reader *reader,
    const struct mu_span *span, size_t word, size_t end);

/* One word of a root, or of NODE where it leads to a block for sure. */
void mu_reader_value(struct mu_reader *reader, uint32_t node, uintptr_t value);

/* An edge of NODE that is known. */
void mu_reader_target(struct mu_reader *reader, uint32_t node, uint32_t target);

/* What waits is handed to FULL. */
void mu_reader_settle(struct mu_reader *reader);

#endif

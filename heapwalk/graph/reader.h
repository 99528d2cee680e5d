/*
 * Convert words to targets: the work of one thread.
 *
 * There are three loops, and each prefetches memory for the next: over words
 * that may point into a block, over their positions in the bitmaps, and over
 * bounds of blocks that they point into the middle of. Waiting for a single
 * cache miss costs 40 times as much as one of many that overlap.
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
	bool bits; /* mu_words_bits() */

	/* Called when there is no room for more words, and at the end. */
	void (*full)(struct mu_reader *reader);
	void *ctx; /* for FULL */

	/* For FULL: each word's source and target. */
	size_t count;
	uint32_t nodes[MU_READER_WORDS];
	uint32_t targets[MU_READER_WORDS]; /* or MU_NO_NODE */
	/* 0, or MU_TARGET_LINK and similar: see heapwalk/graph/graph.h */
	uint32_t links[MU_READER_WORDS];

	/* For mu_reader_span(): the current block. */
	uint32_t node;
	uintptr_t begin, end;

	/* Used internally: queued words. */
	uintptr_t values[MU_READER_WORDS], addresses[MU_READER_WORDS];
	const struct mu_span *word_spans[MU_READER_WORDS];

	/* Cache of spans, by the upper bits of an address. */
	const struct mu_span *spans[MU_READER_REGIONS];
	uintptr_t empty[MU_READER_REGIONS]; /* regions without blocks */
};

/*
 * READER begins empty. FULL, with CTX in reader->ctx, is called in the thread
 * that adds words. GRAPH's blocks must outlive READER; nothing has to be
 * closed.
 */
void mu_reader_open(struct mu_reader *reader, const struct mu_graph *graph,
    void (*full)(struct mu_reader *reader), void *ctx);

/* Read all words of RANGE, of NODE, that count by blocks->words. */
void mu_reader_words(struct mu_reader *reader, uint32_t node, const char *view,
    struct mu_range range, enum mu_words_of of);

/*
 * Read all words of the blocks that start in words WORD to END - 1 of SPAN's
 * bitmap, up to where word END begins, except large blocks. Only if words count
 * when they are aligned and have no tags. Faster than reading block by block,
 * as most words refer to nothing. Returns the rest of the last block, if any,
 * which is reader->node.
 */
struct mu_range mu_reader_span(struct mu_reader *reader,
    const struct mu_span *span, size_t word, size_t end);

/* Add one word of a root, or a word of NODE that certainly leads to a block. */
void mu_reader_value(struct mu_reader *reader, uint32_t node, uintptr_t value);

/* Add a known edge of NODE. */
void mu_reader_target(struct mu_reader *reader, uint32_t node, uint32_t target);

/* Resolve all queued words and pass them to FULL. */
void mu_reader_flush(struct mu_reader *reader);

#endif

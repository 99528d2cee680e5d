/*
 * The first words of lost blocks, for a search that goes from block to block.
 *
 * If memory is not present, each block costs such a search a system call, also
 * a block that it comes to again. In the order of addresses whole pages are
 * read. Of each block only what heapwalk/fold/shape.h looks at is kept.
 */
#ifndef HEAPWALK_FOLD_FIRST_WORDS_H
#define HEAPWALK_FOLD_FIRST_WORDS_H

#include "heapwalk/graph/lost.h"

#define MU_FIRST_WORDS 64 /* of a block; the bits of a word */

struct mu_words {
	uintptr_t at[MU_FIRST_WORDS];
	size_t count;
};

struct mu_first_words {
	const struct mu_lost *lost;
	struct mu_arena arena;
	uint32_t *at;    /* of each node: 1 + index in WORDS, or 0; or NULL */
	uint64_t *words; /* of a block: which ones are kept, and these */
	size_t count, max;
};

/*
 * Keep words of the blocks of LOST that are not alone, as many as LIMIT bytes
 * have room for, until DEADLINE. Close in any case.
 */
void mu_first_words_open(struct mu_first_words *first,
    const struct mu_lost *lost, size_t limit, struct mu_deadline *deadline);

/*
 * Read the words of BLOCK, if they are kept. Those after the third that point
 * to no block are 0, except for the first one that is not 0.
 */
bool mu_first_words_get(const struct mu_first_words *first,
    const struct mu_block *block, struct mu_words *words);

/*
 * Read all words in RANGE, whose view is VIEW, from MEMORY, which may be NULL.
 * None if it cannot be read.
 */
void mu_first_words_read(struct mu_memory *memory, struct mu_range range,
    const char *view, struct mu_words *words);

/* Accepts a zeroed FIRST that was never opened. */
void mu_first_words_close(struct mu_first_words *first);

#endif

/* Blocks that are text. */
#ifndef LIB_EXPLAIN_TEXT_LENGTH_H
#define LIB_EXPLAIN_TEXT_LENGTH_H

#include "heapwalk/heaps/blocks.h"

/*
 * The length of the text that fills BLOCK, which ends as malloc(strlen() + 1)
 * would have it end; 0: it is none.
 */
size_t mu_block_text_length(const struct mu_block *block);

/* True if BLOCK is text of ASCII, and no address that looks like some. */
bool mu_block_is_plain_text(const struct mu_block *block);

#endif

/*
 * Blocks that hold a text behind its length, as the string library sds makes
 * them (Redis 3.2 to 8, Valkey, hiredis).
 *
 * Pure.
 */
#ifndef LIB_TYPES_COUNTED_TEXT_H
#define LIB_TYPES_COUNTED_TEXT_H

#include "lib/types/block_head.h"

/*
 * True if the block with HEAD probably is one, or an object of Redis that has
 * its text in the same block. TYPE says which, and TEXT how the text begins.
 */
bool mu_counted_text_find(const struct mu_block_head *head,
    char text[MU_TYPE_TEXT_MAX + 4], struct mu_type *type);

#endif

/*
 * Blocks that hold text, or nothing but a pointer to a text.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_TEXT_BLOCK_H
#define LIB_TYPES_TEXT_BLOCK_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

/* The length of the characters at BYTES, as below, however few they are. */
size_t mu_text_characters(const unsigned char *bytes, size_t count);

/* Copy LENGTH bytes to TEXT, or as many as there is room for and "...". */
void mu_text_copy(
    const unsigned char *bytes, size_t length, char text[MU_TYPE_TEXT_MAX + 4]);

/*
 * The length of the text at the beginning of the COUNT bytes at BYTES: ASCII
 * without control characters but tab and newlines, or UTF-8. It ends with a NUL
 * or with the last of BYTES. 0 if it is shorter than 4 characters, or ends
 * otherwise. Pure.
 */
size_t mu_text_block_length(const unsigned char *bytes, size_t count);

/*
 * True if the block with HEAD holds text; TEXT is what it begins with. The
 * other one: if all that it holds is a pointer to a text.
 */
bool mu_text_pointer_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char text[MU_TYPE_TEXT_MAX + 4],
    struct mu_type *type);
bool mu_text_block_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char text[MU_TYPE_TEXT_MAX + 4],
    struct mu_type *type);

#endif

/*
 * The words of the subject that a look keeps: pointers in blocks and roots,
 * what names need of modules, and some numbers.
 */
#ifndef LIB_LOOK_WORDS_H
#define LIB_LOOK_WORDS_H

#include "lib/look/write.h"

/*
 * Write them; CONTENTS: with all others of the blocks. Returns false if memory
 * is exhausted.
 */
bool mu_look_words_put(
    struct mu_bytes_out *out, const struct mu_look_parts *parts, bool contents);

#endif

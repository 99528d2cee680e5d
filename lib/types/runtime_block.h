/*
 * Blocks of the C++ runtime, which the program did not ask for.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_RUNTIME_BLOCK_H
#define LIB_TYPES_RUNTIME_BLOCK_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

/* True if the block with HEAD probably is one; TYPE says what. */
bool mu_runtime_block_find(const struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type);

#endif

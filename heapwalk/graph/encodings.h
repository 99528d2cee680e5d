/*
 * References that are not addresses: structures of some libraries store the
 * offset from themselves to what they own.
 *
 * The libraries are in a table. A reference counts only if the library is
 * mapped, the block obeys every rule of the structure, and each offset leads to
 * the first byte of a block of the right size.
 */
#ifndef HEAPWALK_GRAPH_ENCODINGS_H
#define HEAPWALK_GRAPH_ENCODINGS_H

#include "heapwalk/heaps/blocks.h"

/* Usable bytes of every block in the table. */
#define MU_ENCODED_SIZE 24

/* True if a library of the table is mapped. */
bool mu_encodings_used(const struct mu_snapshot *snap);

/*
 * Call VISIT for each block that BLOCK, of MU_ENCODED_SIZE bytes, refers to by
 * an offset. AT is the address of the offset, or of what leads to it.
 */
void mu_encodings_each(const struct mu_blocks *blocks,
    const struct mu_block *block,
    void (*visit)(void *ctx, uintptr_t at, const struct mu_block *to),
    void *ctx);

#endif

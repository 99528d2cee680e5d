/*
 * References that are not addresses: libraries whose structures store the
 * offset from themselves to what they own.
 *
 * A table of them. None counts on a guess: the library is mapped, the block
 * keeps every rule of the structure, and each distance leads to the first byte
 * of a block that has the size it must have.
 */
#ifndef HEAPWALK_GRAPH_ENCODINGS_H
#define HEAPWALK_GRAPH_ENCODINGS_H

#include "heapwalk/heaps/blocks.h"

/* Usable bytes of all blocks that the table knows. */
#define MU_ENCODED_SIZE 24

/* Is a library of the table mapped? */
bool mu_encodings_used(const struct mu_snapshot *snap);

/*
 * Call VISIT for each block that BLOCK, of MU_ENCODED_SIZE bytes, refers to by
 * a distance. AT is where BLOCK has it, or has what leads to it.
 */
void mu_encodings_each(const struct mu_blocks *blocks,
    const struct mu_block *block,
    void (*visit)(void *ctx, uintptr_t at, const struct mu_block *to),
    void *ctx);

#endif

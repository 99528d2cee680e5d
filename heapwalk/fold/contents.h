/*
 * The first bytes of the blocks that entries show.
 *
 * Entries come by size. Where memory is not in place (mu_memory_ops.read) to
 * read each block's is a system call an entry at the least, so those of many
 * entries are read in the order of addresses, in large pieces.
 */
#ifndef HEAPWALK_FOLD_CONTENTS_H
#define HEAPWALK_FOLD_CONTENTS_H

#include "heapwalk/fold/leaks.h"
#include "heapwalk/heaps/blocks.h"

struct mu_contents_place;

struct mu_contents {
	const struct mu_blocks *blocks;
	struct mu_memory *memory;
	struct mu_arena arena;
	struct mu_contents_place *places; /* by address once they were read */
	unsigned char (*bytes)[MU_LEAK_CONTENTS];
	size_t count, max;
};

/*
 * Room for COUNT blocks of BLOCKS, or fewer: contents->max; 0 where all is in
 * place, or there is no memory. LIMIT: bytes. To be closed in any case.
 */
void mu_contents_open(struct mu_contents *contents,
    const struct mu_blocks *blocks, struct mu_memory *memory, size_t count,
    size_t limit);

/*
 * The next one: the bytes at ADDRESS of a block, SIZE of them at most count;
 * room is left.
 */
void mu_contents_add(
    struct mu_contents *contents, uintptr_t address, size_t size);

/* Read all that were added: contents->bytes, in the order of addition. */
void mu_contents_read(struct mu_contents *contents);

/* Forget them. */
void mu_contents_clear(struct mu_contents *contents);

/*
 * SIZE bytes at most of those at ADDRESS, which are at VIEW, to TO: of one
 * block alone.
 */
void mu_contents_copy(struct mu_memory *memory, uintptr_t address,
    const char *view, size_t size, unsigned char to[MU_LEAK_CONTENTS]);

void mu_contents_close(struct mu_contents *contents);

#endif

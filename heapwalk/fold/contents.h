/*
 * Read the first bytes of the blocks that entries show.
 *
 * Entries come by size. If memory is not present (mu_memory_ops.read), reading
 * each block costs at least a system call, so the blocks of many entries are
 * read in address order, in large pieces.
 */
#ifndef HEAPWALK_FOLD_CONTENTS_H
#define HEAPWALK_FOLD_CONTENTS_H

#include "heapwalk/fold/leaks.h"
#include "heapwalk/heaps/blocks.h"

struct mu_contents_item;

struct mu_contents {
	const struct mu_blocks *blocks;
	struct mu_memory *memory;
	struct mu_arena arena;
	struct mu_contents_item *items; /* by address once they are read */
	unsigned char (*bytes)[MU_LEAK_CONTENTS];
	size_t count, max;
};

/*
 * Make room for COUNT blocks of BLOCKS, or fewer: contents->max, which is 0 if
 * memory is present or exhausted. LIMIT is in bytes. Close in any case.
 */
void mu_contents_open(struct mu_contents *contents,
    const struct mu_blocks *blocks, struct mu_memory *memory, size_t count,
    size_t limit);

/*
 * Add the block at ADDRESS, of which at most SIZE bytes count; there must be
 * room.
 */
void mu_contents_add(
    struct mu_contents *contents, uintptr_t address, size_t size);

/* Read all added blocks to contents->bytes, in the order of addition. */
void mu_contents_read(struct mu_contents *contents);

/* Remove all blocks. */
void mu_contents_clear(struct mu_contents *contents);

/*
 * Copy at most SIZE of the bytes at ADDRESS, which are at VIEW, to TO: for a
 * single block.
 */
void mu_contents_copy(struct mu_memory *memory, uintptr_t address,
    const char *view, size_t size, unsigned char to[MU_LEAK_CONTENTS]);

/* Free the copies. Accepts a zeroed CONTENTS. */
void mu_contents_close(struct mu_contents *contents);

#endif

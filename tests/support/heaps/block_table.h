/* A table of live blocks, and the block that an address finds in it. */
#ifndef TESTS_SUPPORT_HEAPS_BLOCK_TABLE_H
#define TESTS_SUPPORT_HEAPS_BLOCK_TABLE_H

#include <check.h>
#include <string.h>

#include "heapwalk/heaps/blocks.h"

extern struct mu_arena blocks_arena;
extern struct mu_blocks blocks;

void blocks_setup(void);
void blocks_teardown(void);
void add(uintptr_t begin, uintptr_t end);
size_t seal(void);
bool finds(uintptr_t value, uintptr_t begin, uintptr_t end);
bool finds_nothing(uintptr_t value);

struct seen {
	uintptr_t last;
	size_t count, bytes, stop_after;
};

bool see(void *ctx, const struct mu_block *block);

#endif

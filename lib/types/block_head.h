/*
 * The first bytes of a block, as they are read from the subject.
 */
#ifndef LIB_TYPES_BLOCK_HEAD_H
#define LIB_TYPES_BLOCK_HEAD_H

#include "lib/types/type.h"

#define MU_BLOCK_HEAD ((size_t)4096) /* bytes that are read at most */

struct mu_block_head {
	uintptr_t begin;
	size_t size;  /* of the block */
	size_t count; /* words in WORDS */
	uintptr_t words[MU_BLOCK_HEAD / sizeof(uintptr_t)];
};

#endif

/*
 * A block and its shadow word: the bytes that the program may use, and the
 * release to the allocator.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_BLOCK_H
#define LIB_MALLOC_DEBUG_CHECKS_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/checks/errors.h"

/* Bytes that the program may use. */
size_t block_usable(const void *block, uint32_t word);

/* The block for messages, with the stack of its release if that is known. */
struct error_block block_error(const void *block, uint32_t word);

/*
 * Clear the word, then free the memory. In this order, because the allocator
 * may give the address to another thread at once.
 */
void block_release(void *block);

#endif

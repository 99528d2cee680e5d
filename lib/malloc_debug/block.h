/*
 * A block by its word: what of it is the program's, and the way back to the
 * allocator.
 *
 * Runs in: the original, any thread.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/errors.h"

/* Bytes that the program may use. */
size_t block_usable(const void *block, uint32_t word);

/* For messages; what is known of its release as well. */
struct error_block block_error(const void *block, uint32_t word);

/* Its word goes, then its memory: in this order, as the allocator may give the
 * address to another thread at once. */
void block_release(void *block);

#endif

/*
 * New memory and freed memory are given bytes that no program expects.
 *
 * Runs in: the original, any thread.
 */
#ifndef FILL_H
#define FILL_H

#include <stddef.h>

#define FILL_ALLOC 0xeb
#define FILL_FREE 0xef

/* By the options, of the bytes from FROM up to USABLE. */
void fill_on_alloc(void *block, size_t from, size_t usable);
void fill_on_free(void *block, size_t usable);

/* How many bytes fill_on_free() has filled of a block. */
size_t fill_freed(size_t usable);

#endif

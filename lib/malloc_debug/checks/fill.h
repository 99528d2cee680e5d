/*
 * Fill new and freed memory with bytes that no program expects.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_FILL_H
#define LIB_MALLOC_DEBUG_CHECKS_FILL_H

#include <stddef.h>

#define FILL_ALLOC 0xeb
#define FILL_FREE 0xef

/* Fill bytes FROM to USABLE, as many as the options say. */
void fill_on_alloc(void *block, size_t from, size_t usable);
void fill_on_free(void *block, size_t usable);

/* How many bytes fill_on_free() has filled of a block. */
size_t fill_freed(size_t usable);

#endif

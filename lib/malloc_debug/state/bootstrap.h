/*
 * Memory for allocations before the next allocator is known: by dlsym() itself,
 * in some releases of glibc (calloc() for dlerror()'s state).
 *
 * Pieces are cut from an array in the library's data and never returned.
 * Lock-free.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_BOOTSTRAP_H
#define LIB_MALLOC_DEBUG_STATE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"

#define BOOTSTRAP_BYTES ((size_t)64 << 10)

extern unsigned char bootstrap_memory[BOOTSTRAP_BYTES] HIDDEN;

/*
 * Returns SIZE zeroed bytes; ALIGNMENT is a power of two, or 0. NULL and ENOMEM
 * if there is no room.
 */
void *bootstrap_alloc(size_t alignment, size_t size);

/* Size of a block of this memory. */
size_t bootstrap_size(const void *pointer);

/*
 * True if POINTER is into bootstrap_memory: the allocator underneath must not
 * get it.
 */
static inline bool
bootstrap_owns(const void *pointer)
{
	return (uintptr_t)pointer - (uintptr_t)bootstrap_memory <
	    BOOTSTRAP_BYTES;
}

#endif

/*
 * Memory for who allocates before the allocator underneath is known: dlsym()
 * itself, in some releases of glibc (calloc() for dlerror()'s state).
 *
 * A piece of the library's own data, from which pieces are cut and never given
 * back. Lock-free. Runs in: the original, any thread.
 */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"

#define BOOTSTRAP_BYTES ((size_t)64 << 10)

extern unsigned char bootstrap_memory[BOOTSTRAP_BYTES] HIDDEN;

/* SIZE zeroed bytes; ALIGNMENT is a power of two, or 0. NULL and ENOMEM when
 * there is no room. */
void *bootstrap_alloc(size_t alignment, size_t size);

/* Of a pointer that came from there. */
size_t bootstrap_size(const void *pointer);

static inline bool
bootstrap_owns(const void *pointer)
{
	return (uintptr_t)pointer - (uintptr_t)bootstrap_memory <
	    BOOTSTRAP_BYTES;
}

#endif

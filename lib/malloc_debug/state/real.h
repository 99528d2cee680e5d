/*
 * The next allocator: the one that the recorder passes calls to, with all
 * functions from one object.
 *
 * Runs in: the original, any thread, from its first allocation on.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_REAL_H
#define LIB_MALLOC_DEBUG_STATE_REAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/malloc_debug/state/hidden.h"

struct real_functions {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	size_t (*malloc_usable_size)(void *); /* returns 0 if there is none */
	size_t least; /* least number of bytes to request: see MU_SHADOW_... */
	bool glibc;   /* it is the C library's malloc */
};

extern struct real_functions real HIDDEN;

/*
 * Find the functions: in the next object, else in libc, else by libc's private
 * names, else print a line and abort. May allocate: see bootstrap.h.
 */
void real_find(void);

/*
 * The file of the object whose malloc the program calls instead of ours,
 * because it comes first in symbol order; NULL if there is none. Runs in: the
 * original, from the constructor on. May allocate.
 */
const char *real_first(void);

/* Places to search, in this order; public for tests. */
enum real_place { REAL_NEXT, REAL_LIBC, REAL_PRIVATE, REAL_PLACES };
bool real_find_at(struct real_functions *out, enum real_place place);

#endif

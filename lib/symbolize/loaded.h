/*
 * Files that are loaded: which of the subject's mappings belong together.
 */
#ifndef SYMBOLIZE_LOADED_H
#define SYMBOLIZE_LOADED_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/subject/snapshot.h"

/*
 * One loading of one file. A loader maps it in segments, from its start on:
 *	7f1c2a5af000-7f1c2a5d5000 r--p 00000000 fe:01 4325  /usr/lib/libc.so.6
 *	7f1c2a5d5000-7f1c2a72a000 r-xp 00026000 fe:01 4325  /usr/lib/libc.so.6
 */
struct mu_loaded {
	const struct mu_mapping *first, *last;
	uintptr_t end; /* of the .bss behind it, if that is what follows */
};

/*
 * All of MAPPINGS, by address; *COUNT is how many. To be freed; NULL: there is
 * none, or no memory.
 */
struct mu_loaded *mu_loaded_list(
    const struct mu_mapping *mappings, size_t num_mappings, size_t *count);

/*
 * The one whose file ADDRESS is in, and then MAPPING is which part of it; or
 * whose .bss it could be in, which has no file: then MAPPING is NULL. NULL:
 * none.
 */
struct mu_loaded *mu_loaded_find(struct mu_loaded *list, size_t count,
    uintptr_t address, const struct mu_mapping **mapping);

#endif

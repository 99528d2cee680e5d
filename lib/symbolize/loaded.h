/*
 * Find the mappings that belong to one loaded file.
 *
 * Runs in: the command.
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
	uintptr_t end; /* end of the .bss that may follow */
};

/*
 * List the loaded files of MAPPINGS, by address; *COUNT is their number. Free
 * the result; NULL if there are none, or no memory.
 */
struct mu_loaded *mu_loaded_list(
    const struct mu_mapping *mappings, size_t num_mappings, size_t *count);

/*
 * The file that contains ADDRESS; MAPPING is its part. If ADDRESS may be in its
 * .bss, which has no file, MAPPING is NULL. NULL if there is none.
 */
struct mu_loaded *mu_loaded_find(struct mu_loaded *list, size_t count,
    uintptr_t address, const struct mu_mapping **mapping);

#endif

/*
 * What is known of vtable pointers. Many blocks have few classes.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_VTABLE_CACHE_H
#define LIB_TYPES_VTABLE_CACHE_H

#include "lib/types/vtable.h"

#define MU_VTABLE_CACHE 4096 /* entries; a power of 2 */

struct mu_known_vptr {
	uintptr_t vptr; /* 0: empty */
	bool found;
	struct mu_vtable vtable;
};

/* Initialise to zero, except SYMBOLS. It has no end: the helper has one. */
struct mu_vtable_cache {
	struct mu_symbols *symbols;
	struct mu_known_vptr known[MU_VTABLE_CACHE];
};

/*
 * The vtable at VPTR, valid until the next call with another one; NULL if
 * there is none.
 */
const struct mu_vtable *mu_vtable_known(
    struct mu_vtable_cache *cache, uintptr_t vptr);

#endif

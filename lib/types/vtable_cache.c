#include "lib/types/vtable_cache.h"

#include <stdlib.h>

#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */

const struct mu_vtable *
mu_vtable_known(struct mu_vtable_cache *cache, uintptr_t vptr)
{
	struct mu_known_vptr *known =
	    &cache->known[vptr * SPREAD >> 32 & (MU_VTABLE_CACHE - 1)];
	const struct mu_mapping *mapping;

	if (vptr == 0 || !mu_symbols_in_file(cache->symbols, vptr, &mapping))
		return NULL;
	if (known->vptr != vptr) {
		free(known->vtable.name);
		known->vptr = vptr;
		known->found =
		    mu_vtable_find(cache->symbols, vptr, &known->vtable);
	}
	return known->found ? &known->vtable : NULL;
}

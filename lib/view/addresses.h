/*
 * Numbers for addresses: each different one is kept once.
 *
 * Pure.
 */
#ifndef LIB_VIEW_ADDRESSES_H
#define LIB_VIEW_ADDRESSES_H

#include "lib/view/hash_index.h"

/* Zero at first. */
struct mu_addresses {
	uintptr_t *list; /* by number */
	size_t count, max;
	struct mu_hash_index index; /* until the seal */
};

/* Replace each of COUNT PCS by its number. Returns false without memory. */
bool mu_addresses_number(
    struct mu_addresses *addresses, uintptr_t *pcs, size_t count);

/* Call when no more is added. */
void mu_addresses_seal(struct mu_addresses *addresses);

/* Accepts one that is zero. */
void mu_addresses_release(struct mu_addresses *addresses);

#endif

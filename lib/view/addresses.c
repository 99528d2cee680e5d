#include "lib/view/addresses.h"

#include <stdlib.h>

#include "mu/array.h"

static bool
number(struct mu_addresses *addresses, uintptr_t *pc)
{
	struct mu_hash_slot *slot = NULL;
	uint32_t hash;

	if (!mu_hash_room(&addresses->index) ||
	    !mu_array_room(addresses->list, addresses->count, addresses->max,
		128, SIZE_MAX))
		return false;
	hash = mu_hash_words(&addresses->index, pc, 1);
	do {
		slot = mu_hash_find(&addresses->index, hash, slot);
	} while (slot->number != 0 && addresses->list[slot->number - 1] != *pc);
	if (slot->number == 0) {
		mu_hash_put(&addresses->index, slot, hash, addresses->count);
		addresses->list[addresses->count++] = *pc;
	}
	*pc = slot->number - 1;
	return true;
}

bool
mu_addresses_number(
    struct mu_addresses *addresses, uintptr_t *pcs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!number(addresses, &pcs[i]))
			return false;
	}
	return true;
}

void
mu_addresses_seal(struct mu_addresses *addresses)
{
	mu_hash_release(&addresses->index);
}

void
mu_addresses_release(struct mu_addresses *addresses)
{
	mu_hash_release(&addresses->index);
	free(addresses->list);
	*addresses = (struct mu_addresses) { 0 };
}

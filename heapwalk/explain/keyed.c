#include "heapwalk/explain/keyed.h"

#include <string.h>

#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */

static uint64_t
key_at(const void *slot)
{
	uint64_t key;

	memcpy(&key, slot, sizeof(key));
	return key;
}

/* The slot of KEY, which is free if there is no such item. */
static void *
slot_of(const struct mu_keyed *table, uint64_t key)
{
	size_t at = (size_t)(key * SPREAD >> 20);
	void *slot;
	uint64_t found;

	for (;; at++) {
		slot = table->items + (at & (table->slots - 1)) * table->size;
		found = key_at(slot);
		if (found == key || found == 0)
			return slot;
	}
}

bool
mu_keyed_room(struct mu_keyed *table)
{
	struct mu_keyed more = *table;
	const void *slot;
	size_t i;

	if (table->count >= table->most)
		return false;
	if (table->slots > 0 && table->count < table->slots / 2)
		return true;
	more.slots = table->slots == 0 ? table->first : table->slots * 2;
	more.items =
	    mu_arena_alloc_table(table->arena, more.slots, table->size);
	if (more.items == NULL)
		return false;
	for (i = 0; i < table->slots; i++) {
		slot = table->items + i * table->size;
		if (key_at(slot) != 0)
			memcpy(slot_of(&more, key_at(slot)), slot, table->size);
	}
	*table = more;
	return true;
}

void *
mu_keyed_find(const struct mu_keyed *table, uint64_t key)
{
	void *slot = table->slots == 0 ? NULL : slot_of(table, key);

	return slot == NULL || key_at(slot) == 0 ? NULL : slot;
}

void *
mu_keyed_add(struct mu_keyed *table, uint64_t key, bool *added)
{
	void *slot = mu_keyed_find(table, key);

	*added = slot == NULL;
	if (slot != NULL)
		return slot;
	if (!mu_keyed_room(table))
		return NULL;
	slot = slot_of(table, key);
	memcpy(slot, &key, sizeof(key));
	table->count++;
	return slot;
}

void *
mu_keyed_pack(struct mu_keyed *table)
{
	size_t i, kept = 0;

	for (i = 0; kept < table->count; i++)
		if (key_at(table->items + i * table->size) != 0)
			memmove(table->items + kept++ * table->size,
			    table->items + i * table->size, table->size);
	return table->items;
}

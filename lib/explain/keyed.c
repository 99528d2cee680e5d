#include "lib/explain/keyed.h"

#include <string.h>

#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */

static uint64_t
key_at(const void *place)
{
	uint64_t key;

	memcpy(&key, place, sizeof(key));
	return key;
}

/* The place of KEY, which is free if there is no such item. */
static void *
place_of(const struct mu_keyed *table, uint64_t key)
{
	size_t at = (size_t)(key * SPREAD >> 20);
	void *place;
	uint64_t found;

	for (;; at++) {
		place = table->items + (at & (table->places - 1)) * table->size;
		found = key_at(place);
		if (found == key || found == 0)
			return place;
	}
}

bool
mu_keyed_room(struct mu_keyed *table)
{
	struct mu_keyed more = *table;
	const void *place;
	size_t i;

	if (table->count >= table->most)
		return false;
	if (table->places > 0 && table->count < table->places / 2)
		return true;
	more.places = table->places == 0 ? table->first : table->places * 2;
	more.items =
	    mu_arena_alloc_table(table->arena, more.places, table->size);
	if (more.items == NULL)
		return false;
	for (i = 0; i < table->places; i++) {
		place = table->items + i * table->size;
		if (key_at(place) != 0)
			memcpy(
			    place_of(&more, key_at(place)), place, table->size);
	}
	*table = more;
	return true;
}

void *
mu_keyed_find(const struct mu_keyed *table, uint64_t key)
{
	void *place = table->places == 0 ? NULL : place_of(table, key);

	return place == NULL || key_at(place) == 0 ? NULL : place;
}

void *
mu_keyed_add(struct mu_keyed *table, uint64_t key, bool *added)
{
	void *place = mu_keyed_find(table, key);

	*added = place == NULL;
	if (place != NULL)
		return place;
	if (!mu_keyed_room(table))
		return NULL;
	place = place_of(table, key);
	memcpy(place, &key, sizeof(key));
	table->count++;
	return place;
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

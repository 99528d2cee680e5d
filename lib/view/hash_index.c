/*
 * Open addressing, at most half full.
 */
#include "lib/view/hash_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define SIZE_MIN 1024

/* The kernel gives every program 16 random bytes (getauxval(3), AT_RANDOM). */
static void
take_key(struct mu_hash_index *index)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random != NULL)
		memcpy(index->key, random, sizeof(index->key));
	index->key[1] |= 1;
}

static uint64_t
mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t
mu_hash_words(
    const struct mu_hash_index *index, const uintptr_t *words, size_t count)
{
	uint64_t hash = index->key[0] ^ count;
	size_t i;

	for (i = 0; i < count; i++)
		hash = mix(hash ^ words[i], index->key[1]) + index->key[0];
	hash = mix(hash, index->key[1]);
	return (uint32_t)(hash ^ hash >> 32);
}

static bool
grow(struct mu_hash_index *index)
{
	struct mu_hash_index grown = *index;
	struct mu_hash_slot *slot;
	size_t i;

	grown.size = index->size == 0 ? SIZE_MIN : 2 * index->size;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (grown.slots == NULL)
		return false;
	for (i = 0; i < index->size; i++) {
		if (index->slots[i].number == 0)
			continue;
		slot = &grown.slots[index->slots[i].hash & (grown.size - 1)];
		while (slot->number != 0) {
			if (++slot == grown.slots + grown.size)
				slot = grown.slots;
		}
		*slot = index->slots[i];
	}
	free(index->slots);
	*index = grown;
	return true;
}

bool
mu_hash_room(struct mu_hash_index *index)
{
	if (index->size == 0)
		take_key(index);
	if (index->used >= MU_HASH_MAX)
		return false;
	return 2 * index->used < index->size || grow(index);
}

struct mu_hash_slot *
mu_hash_find(const struct mu_hash_index *index, uint32_t hash,
    const struct mu_hash_slot *after)
{
	size_t at = after == NULL ? hash : (size_t)(after - index->slots) + 1;
	struct mu_hash_slot *slot = &index->slots[at & (index->size - 1)];

	while (slot->number != 0 && slot->hash != hash)
		slot = &index->slots[++at & (index->size - 1)];
	return slot;
}

void
mu_hash_put(struct mu_hash_index *index, struct mu_hash_slot *slot,
    uint32_t hash, size_t at)
{
	*slot = (struct mu_hash_slot) { hash, (uint32_t)at + 1 };
	index->used++;
}

void
mu_hash_release(struct mu_hash_index *index)
{
	free(index->slots);
	*index = (struct mu_hash_index) { 0 };
}

/*
 * A hash index into an array of the caller. A file may contain any numbers, so
 * the hash has a key that differs from run to run: no file can cause
 * collisions.
 */
#ifndef LIB_VIEW_HASH_INDEX_H
#define LIB_VIEW_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_HASH_MAX UINT32_MAX /* elements of the array */

struct mu_hash_slot {
	uint32_t hash;
	uint32_t number; /* of the element, from 1; 0: free slot */
};

/* Zero at first. */
struct mu_hash_index {
	struct mu_hash_slot *slots;
	size_t size, used; /* size is a power of two */
	uint64_t key[2];
};

/*
 * Make room for one more; call before the first mu_hash_words(), too. Returns
 * false without memory.
 */
bool mu_hash_room(struct mu_hash_index *index);

/* The hash of COUNT words, by a key of this index. */
uint32_t mu_hash_words(
    const struct mu_hash_index *index, const uintptr_t *words, size_t count);

/*
 * The first slot whose element has HASH or, with AFTER, the next one after it;
 * a free slot if there is none. The index has slots.
 */
struct mu_hash_slot *mu_hash_find(const struct mu_hash_index *index,
    uint32_t hash, const struct mu_hash_slot *after);

/* Fill SLOT, a free one found for HASH, with element AT. */
void mu_hash_put(struct mu_hash_index *index, struct mu_hash_slot *slot,
    uint32_t hash, size_t at);

/* Accepts one that is zero. */
void mu_hash_release(struct mu_hash_index *index);

#endif

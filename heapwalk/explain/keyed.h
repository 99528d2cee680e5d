/*
 * A hash table: items, in an arena, by a key that is a number. Each item begins
 * with its key, a uint64_t; 0 is the key of none.
 *
 * Runs in: the command.
 */
#ifndef HEAPWALK_EXPLAIN_KEYED_H
#define HEAPWALK_EXPLAIN_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arena.h"

/* Zero but for the first four members at first. */
struct mu_keyed {
	struct mu_arena *arena;
	size_t size;  /* bytes of an item */
	size_t first; /* slots at first, a power of 2 */
	size_t most;  /* items */
	void *items;  /* with free slots between, at least half of them */
	size_t count, slots;
};

/* The item of KEY; NULL: there is none. */
void *mu_keyed_find(const struct mu_keyed *table, uint64_t key);

/*
 * The same; a new one is zero but for its key, and *ADDED is true. The items
 * may move, but not while there are less than half of the first slots. NULL:
 * there is no memory, or there are too many.
 */
void *mu_keyed_add(struct mu_keyed *table, uint64_t key, bool *added);

/*
 * Make room for one more, as mu_keyed_add() does. Returns false without memory
 * or at MOST.
 */
bool mu_keyed_room(struct mu_keyed *table);

/* All items, one behind the other. Nothing can be found or added after this. */
void *mu_keyed_pack(struct mu_keyed *table);

#endif

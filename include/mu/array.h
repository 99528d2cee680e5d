/*
 * Growing arrays from malloc. For arrays in an arena see mu_arena_room().
 *
 * Runs in: the command.
 */
#ifndef MU_ARRAY_H
#define MU_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * True if ITEMS, an array from malloc() or NULL with COUNT of MAX elements in
 * use, has room for one more. A full array grows: to FIRST elements, then to
 * twice as many, but never beyond MOST. Returns false without memory or at
 * MOST; nothing has changed then.
 */
#define mu_array_room(items, count, max, first, most) \
	((count) < (max) ||                           \
	    mu_array_more(&(items), &(max), sizeof(*(items)), first, most))

/* ITEMS is the address of the array's pointer. */
static inline bool
mu_array_more(void *items, size_t *max, size_t size, size_t first, size_t most)
{
	size_t more = *max == 0 ? first : *max * 2;
	void *array;

	if (more > most)
		return false;
	memcpy(&array, items, sizeof(array));
	array = reallocarray(array, more, size);
	if (array == NULL)
		return false;
	memcpy(items, &array, sizeof(array));
	*max = more;
	return true;
}

#endif

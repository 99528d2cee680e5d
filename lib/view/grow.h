/*
 * Arrays that grow by doubling, so that they never take more than twice what
 * is in them.
 *
 * Pure.
 */
#ifndef LIB_VIEW_GROW_H
#define LIB_VIEW_GROW_H

#include <stdbool.h>
#include <stdlib.h>

static inline void *
mu_grown(void *array, size_t count, size_t *max, size_t size)
{
	size_t wanted = count < 64 ? 64 : count;
	void *grown;

	if (count < *max)
		return array;
	if (__builtin_mul_overflow(wanted, 2, &wanted))
		return NULL;
	grown = reallocarray(array, wanted, size);
	if (grown != NULL)
		*max = wanted;
	return grown;
}

/*
 * Make room behind the COUNT elements of *ARRAY, whose room is *MAX. False: no
 * memory, and the array is as it was.
 */
#define mu_grow(array, count, max)                                         \
	__extension__({                                                    \
		void *mu_grow_new =                                        \
		    mu_grown(*(array), (count), (max), sizeof(**(array))); \
		if (mu_grow_new != NULL)                                   \
			*(array) = mu_grow_new;                            \
		mu_grow_new != NULL;                                       \
	})

#endif

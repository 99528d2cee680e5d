/*
 * Sorting that never allocates: glibc's qsort() may call malloc, libbsd's
 * heapsort() always does. In place, O(n log n) in the worst case, not stable.
 *
 * Runs in: any.
 */
#ifndef MU_SORT_H
#define MU_SORT_H

#include <stddef.h>

#define MU_SORT_MOST 512 /* largest element, bytes */

/*
 * COMPARE is as for qsort(), SIZE in bytes. Does nothing if SIZE is above
 * MU_SORT_MOST.
 */
void mu_sort(void *base, size_t count, size_t size,
    int (*compare)(const void *, const void *));

#endif

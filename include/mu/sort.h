/*
 * Sorting that never allocates: glibc's qsort() may call malloc, libbsd's
 * heapsort() does. In place, O(n log n) at worst, not stable.
 *
 * Runs in: any.
 */
#ifndef MU_SORT_H
#define MU_SORT_H

#include <stddef.h>

#define MU_SORT_MOST 512 /* bytes of an element */

/* COMPARE as for qsort(). SIZE in bytes; nothing is done beyond the most. */
void mu_sort(void *base, size_t count, size_t size,
    int (*compare)(const void *, const void *));

#endif

/*
 * Heapsort: no recursion, no allocation, O(n log n) also on hostile input.
 *
 * Runs in: any.
 */
#include "mu/sort.h"

#include <stdbool.h>
#include <string.h>

static void
swap(char *a, char *b, size_t size)
{
	char spare[MU_SORT_MOST];

	memcpy(spare, a, size);
	memcpy(a, b, size);
	memcpy(b, spare, size);
}

static void
sift_down(char *base, size_t root, size_t count, size_t size,
    int (*compare)(const void *, const void *))
{
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    compare(base + child * size, base + (child + 1) * size) < 0)
			child++;
		if (compare(base + root * size, base + child * size) >= 0)
			return;
		swap(base + root * size, base + child * size, size);
		root = child;
	}
}

static bool
is_sorted(const char *base, size_t count, size_t size,
    int (*compare)(const void *, const void *))
{
	size_t i;

	for (i = 1; i < count; i++)
		if (compare(base + (i - 1) * size, base + i * size) > 0)
			return false;
	return true;
}

void
mu_sort(void *base, size_t count, size_t size,
    int (*compare)(const void *, const void *))
{
	size_t i;

	if (size == 0 || size > MU_SORT_MOST ||
	    is_sorted(base, count, size, compare))
		return;
	for (i = count / 2; i-- > 0;)
		sift_down(base, i, count, size, compare);
	for (i = count; i-- > 1;) {
		swap(base, (char *)base + i * size, size);
		sift_down(base, 0, i, size, compare);
	}
}

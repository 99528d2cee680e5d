/* A half-open range of addresses of the subject. Runs in: any. */
#ifndef MU_RANGE_H
#define MU_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mu_range {
	uintptr_t begin, end;
};

/* Bytes of RANGE; 0 if its end is not above its begin. */
static inline size_t
mu_range_size(struct mu_range range)
{
	return range.end > range.begin ? range.end - range.begin : 0;
}

/* True if ADDRESS is one of the bytes of RANGE; its end is not. */
static inline bool
mu_range_has(struct mu_range range, uintptr_t address)
{
	return address >= range.begin && address < range.end;
}

/* The intersection of A and B; of size 0 if there is none. */
static inline struct mu_range
mu_range_common(struct mu_range a, struct mu_range b)
{
	return (struct mu_range) { a.begin > b.begin ? a.begin : b.begin,
		a.end < b.end ? a.end : b.end };
}

/*
 * Comparison for mu_sort(), by BEGIN: for ranges, or objects that begin with
 * one.
 */
static inline int
mu_range_compare(const void *a, const void *b)
{
	const struct mu_range *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

#endif

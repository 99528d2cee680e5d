/* Saturating sums: a file may claim any number. */
#ifndef LIB_VIEW_SATURATE_H
#define LIB_VIEW_SATURATE_H

#include <stdint.h>

/* A + B, or UINT64_MAX if that is too large. */
static inline uint64_t
mu_saturated_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* A * B, or UINT64_MAX if that is too large. */
static inline uint64_t
mu_saturated_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif

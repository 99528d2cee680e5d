/*
 * Sets of small numbers: number I is bit I % 64 of word I / 64. The caller's
 * memory has room for I, and one thread at a time changes a word.
 */
#ifndef MU_BITS_H
#define MU_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bit I of BITS: bit I % 64 of word I / 64. I is not checked. */
static inline bool
mu_bit(const uint64_t *bits, size_t i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}

/* Set bit I. Not atomic: another thread must not write the same word. */
static inline void
mu_bit_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

/* Clear bit I. Not atomic, as above. */
static inline void
mu_bit_clear(uint64_t *bits, size_t i)
{
	bits[i / 64] &= ~(1ull << (i % 64));
}

/* Bit i: I + i of BITS, for the first COUNT, at most 64; others may be set. */
static inline uint64_t
mu_bits_from(const uint64_t *bits, size_t i, size_t count)
{
	uint64_t found = bits[i / 64] >> (i % 64);

	return i % 64 + count > 64 ? found | bits[i / 64 + 1] << (64 - i % 64)
				   : found;
}

#endif

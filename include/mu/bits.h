/*
 * Sets of small numbers: number I is bit I % 64 of word I / 64. The caller's
 * memory has room for I, and one thread at a time changes a word.
 */
#ifndef MU_BITS_H
#define MU_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool
mu_bit(const uint64_t *bits, size_t i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}

static inline void
mu_bit_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static inline void
mu_bit_clear(uint64_t *bits, size_t i)
{
	bits[i / 64] &= ~(1ull << (i % 64));
}

#endif

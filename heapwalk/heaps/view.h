/* Numbers in a view of the subject's memory, which need not be aligned. */
#ifndef HEAPWALK_HEAPS_VIEW_H
#define HEAPWALK_HEAPS_VIEW_H

#include <stdint.h>

/* The word at AT. */
static inline uintptr_t
mu_view_word(const char *at)
{
	uintptr_t word;

	__builtin_memcpy(&word, at, sizeof(word));
	return word;
}

/* The number of 32 bits there. */
static inline uint32_t
mu_view_u32(const char *at)
{
	uint32_t number;

	__builtin_memcpy(&number, at, sizeof(number));
	return number;
}

/* The number of 16 bits there. */
static inline uint16_t
mu_view_u16(const char *at)
{
	uint16_t number;

	__builtin_memcpy(&number, at, sizeof(number));
	return number;
}

#endif

/*
 * The live blocks: the shadow of struct mu_recorded.
 *
 * The word of a block and the sizes behind it are written only by the thread
 * that allocates or frees it; there is no lock. Concurrent readers may see torn
 * values, which they bound.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_LIVE_H
#define LIB_MALLOC_DEBUG_SHADOW_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "mu/recorded.h"

#define LIVE_SPAN ((uintptr_t)1 << MU_SHADOW_SPAN_SHIFT)
#define LIVE_LARGE ((size_t)1 << 30)

/* As in struct mu_recorded; NULL = nothing is recorded. */
extern uint64_t *live_directory HIDDEN;

/*
 * Reserve the directory, once. TALLIED: see live_is_near(). False = no memory.
 */
bool live_init(bool tallied);

extern bool live_tallied HIDDEN; /* constant once blocks have words */

/*
 * live_put() and live_size() for all addresses and sizes. live_put_slowly()
 * returns false if there is no memory for the word.
 */
bool live_put_slowly(uintptr_t begin, size_t size, uint32_t word);
size_t live_size_slowly(uintptr_t begin);

/*
 * The number of the word of BEGIN. Addresses that no allocator returns (odd
 * ones, and those beyond 48 bits) have numbers beyond LIVE_WORDS: the lower
 * four bits become the upper ones.
 */
#define LIVE_WORDS ((uint64_t)1 << (48 - MU_SHADOW_WORD_SHIFT))
#define LIVE_SPAN_BITS (MU_SHADOW_SPAN_SHIFT - MU_SHADOW_WORD_SHIFT)

/* See above. Any BEGIN is accepted. */
static inline uint64_t
live_number(uintptr_t begin)
{
	return (uint64_t)begin >> MU_SHADOW_WORD_SHIFT |
	    (uint64_t)begin << (64 - MU_SHADOW_WORD_SHIFT);
}

/* True if the three words behind this one are in the same span. */
static inline bool
live_plain(uint64_t number)
{
	return (number & (MU_SHADOW_WORDS - 1)) <= MU_SHADOW_WORDS - 4;
}

/* The words of the span of this number; NULL if it is not mapped yet. */
static inline uint32_t *
live_span(uint64_t number)
{
	return (uint32_t *)(uintptr_t)__atomic_load_n(
	    &live_directory[number >> LIVE_SPAN_BITS], __ATOMIC_ACQUIRE);
}

/* Address of the word of BEGIN; NULL if its span is not mapped. */
static inline uint32_t *
live_words(uintptr_t begin)
{
	uint64_t number = live_number(begin);
	uint32_t *span = number < LIVE_WORDS ? live_span(number) : NULL;

	return span == NULL ? NULL : span + (number & (MU_SHADOW_WORDS - 1));
}

/* The word of the block that begins at BLOCK, or 0. */
static inline uint32_t
live_word(const void *block)
{
	uint32_t *words = live_words((uintptr_t)block), word;

	if (words == NULL)
		return 0;
	word = __atomic_load_n(words, __ATOMIC_ACQUIRE);
	return (word & MU_SHADOW_START) != 0 ? word : 0;
}

/* Record BLOCK as live, or change its word or size. False = no memory. */
static inline bool
live_put(const void *block, size_t size, uint32_t word)
{
	uint64_t number = live_number((uintptr_t)block);
	uint32_t *words;

	if (__builtin_expect(number >= LIVE_WORDS, 0))
		return true; /* no known allocator returns such an address */
	words = live_span(number);
	if (__builtin_expect(words == NULL || size >= LIVE_LARGE ||
		    !live_plain(number) || live_tallied,
		0))
		return live_put_slowly((uintptr_t)block, size, word);
	words += number & (MU_SHADOW_WORDS - 1);
	__atomic_store_n(words + 1, (uint32_t)size * 2, __ATOMIC_RELAXED);
	__atomic_store_n(words, word, __ATOMIC_RELEASE);
	return true;
}

/* The requested size of BLOCK, which has a word. */
static inline size_t
live_size(const void *block)
{
	uint32_t half;

	if (!live_plain(live_number((uintptr_t)block)))
		return live_size_slowly((uintptr_t)block);
	half =
	    __atomic_load_n(live_words((uintptr_t)block) + 1, __ATOMIC_RELAXED);
	return half == MU_SHADOW_LARGE ? live_size_slowly((uintptr_t)block)
				       : half / 2;
}

/* Remove BLOCK. Returns its word, or 0 if it had none. */
uint32_t live_take(const void *block);

/*
 * The fast path, without tallies; on false call live_take(). Only the first
 * word is cleared: the words behind it mean nothing without it.
 */
static inline bool
live_take_plain(const void *block)
{
	uint64_t number = live_number((uintptr_t)block);
	uint32_t *words;

	if (__builtin_expect(number >= LIVE_WORDS, 0))
		return false;
	words = live_span(number);
	if (__builtin_expect(words == NULL, 0))
		return false;
	words += number & (MU_SHADOW_WORDS - 1);
	if (__builtin_expect((__atomic_load_n(words, __ATOMIC_RELAXED) &
				 MU_SHADOW_START) == 0,
		0))
		return false;
	__atomic_store_n(words, 0, __ATOMIC_RELEASE);
	return true;
}

/*
 * The number of blocks with a word that begin in a page of 4 KiB, or in another
 * page that shares the tally; LIVE_TALLY_MOST: it has once reached that number.
 * Used if only few blocks have words, so that other blocks are freed without
 * reading their word.
 */
#define LIVE_TALLIES ((uintptr_t)1 << 16)
#define LIVE_TALLY_MOST 255

extern uint8_t live_tallies[LIVE_TALLIES] HIDDEN;

/*
 * The counter of the page that ADDRESS is in; several pages share one: see
 * live_is_near().
 */
static inline uint8_t *
live_tally(uintptr_t address)
{
	return &live_tallies[address >> 12 & (LIVE_TALLIES - 1)];
}

/* False if BLOCK certainly has no word. Without tallies always false. */
static inline bool
live_is_near(const void *block)
{
	return __atomic_load_n(
		   live_tally((uintptr_t)block), __ATOMIC_RELAXED) != 0;
}

/* Treat all of this memory as near from now on. */
void live_stay_near(const void *memory, size_t size);

/* Change the word of BLOCK from FROM to TO; false if it was not FROM. */
bool live_change(const void *block, uint32_t from, uint32_t to);

/* Visit all blocks by address, until VISIT returns false. */
void live_each(
    bool (*visit)(void *ctx, uintptr_t begin, uint32_t word, size_t size),
    void *ctx);

#endif

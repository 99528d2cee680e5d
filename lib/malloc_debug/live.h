/*
 * Which blocks are live: the shadow of struct mu_recorded.
 *
 * A word and the sizes behind it are written by the thread that allocates or
 * frees the block, which nobody else does at that time; there is no lock. What
 * readers see meanwhile may be torn, and is bounded.
 *
 * Runs in: the original, any thread.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"
#include "mu/recorded.h"

#define LIVE_SPAN ((uintptr_t)1 << MU_SHADOW_SPAN_SHIFT)
#define LIVE_LARGE ((size_t)1 << 30)

/* As in struct mu_recorded; NULL = nothing is recorded. */
extern uint64_t *live_directory HIDDEN;

/* Reserve it, once. TALLIED: see live_is_near(). False = no memory. */
bool live_init(bool tallied);

extern bool live_tallied HIDDEN; /* constant once blocks have words */

bool live_put_slowly(uintptr_t begin, size_t size, uint32_t word);
size_t live_size_slowly(uintptr_t begin);

/*
 * The number of the word of BEGIN. What no allocator gives - odd addresses,
 * those beyond 48 bits - has numbers beyond LIVE_WORDS: the lower four bits
 * are the upper ones there.
 */
#define LIVE_WORDS ((uint64_t)1 << (48 - MU_SHADOW_WORD_SHIFT))
#define LIVE_SPAN_BITS (MU_SHADOW_SPAN_SHIFT - MU_SHADOW_WORD_SHIFT)

static inline uint64_t
live_number(uintptr_t begin)
{
	return (uint64_t)begin >> MU_SHADOW_WORD_SHIFT |
	    (uint64_t)begin << (64 - MU_SHADOW_WORD_SHIFT);
}

/* Are the words behind that one, too, in its span? */
static inline bool
live_plain(uint64_t number)
{
	return (number & (MU_SHADOW_WORDS - 1)) <= MU_SHADOW_WORDS - 4;
}

/* The words of the span in which that one is; NULL: there are none yet. */
static inline uint32_t *
live_span(uint64_t number)
{
	return (uint32_t *)(uintptr_t)__atomic_load_n(
	    &live_directory[number >> LIVE_SPAN_BITS], __ATOMIC_ACQUIRE);
}

/* Where the word of BEGIN is, if anything near it was ever recorded. */
static inline uint32_t *
live_words(uintptr_t begin)
{
	uint64_t number = live_number(begin);
	uint32_t *span = number < LIVE_WORDS ? live_span(number) : NULL;

	return span == NULL ? NULL : span + (number & (MU_SHADOW_WORDS - 1));
}

/* The word of the block that begins there, or 0. */
static inline uint32_t
live_word(const void *block)
{
	uint32_t *words = live_words((uintptr_t)block), word;

	if (words == NULL)
		return 0;
	word = __atomic_load_n(words, __ATOMIC_ACQUIRE);
	return (word & MU_SHADOW_START) != 0 ? word : 0;
}

/* BLOCK is live, or has another word or size now. False = no memory. */
static inline bool
live_put(const void *block, size_t size, uint32_t word)
{
	uint64_t number = live_number((uintptr_t)block);
	uint32_t *words;

	if (__builtin_expect(number >= LIVE_WORDS, 0))
		return true; /* of no allocator that we know */
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

/* The size that was asked for; BLOCK has a word. */
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

/* BLOCK is none any more. Its word, or 0 where it was none. */
uint32_t live_take(const void *block);

/*
 * The same for what is the rule, where nothing is tallied; false = to be asked
 * of live_take(). What is behind the first word stays: it tells nothing alone.
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
 * How many blocks with a word begin in a page of 4 KiB, or in another one that
 * shares its tally; LIVE_TALLY_MOST: once they were as many, or more. Only
 * where few blocks have one, so that the others are freed with no look at
 * theirs.
 */
#define LIVE_TALLIES ((uintptr_t)1 << 16)
#define LIVE_TALLY_MOST 255

extern uint8_t live_tallies[LIVE_TALLIES] HIDDEN;

static inline uint8_t *
live_tally(uintptr_t address)
{
	return &live_tallies[address >> 12 & (LIVE_TALLIES - 1)];
}

/* False: BLOCK has no word for certain. Where nothing is tallied, always. */
static inline bool
live_is_near(const void *block)
{
	return __atomic_load_n(
		   live_tally((uintptr_t)block), __ATOMIC_RELAXED) != 0;
}

/* From now on all of that memory is near. */
void live_stay_near(const void *memory, size_t size);

/* The word of BLOCK from FROM to TO; false if it was another one by now. */
bool live_change(const void *block, uint32_t from, uint32_t to);

/* In the order of addresses; ends when VISIT returns false. */
void live_each(
    bool (*visit)(void *ctx, uintptr_t begin, uint32_t word, size_t size),
    void *ctx);

#endif

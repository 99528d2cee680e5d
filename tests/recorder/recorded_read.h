/*
 * Read the recorder's tables as their header describes them, without using the
 * recorder.
 */
#ifndef TESTS_RECORDER_RECORDED_READ_H
#define TESTS_RECORDER_RECORDED_READ_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

static inline const struct mu_recorded *
recorded(void)
{
	return (const struct mu_recorded *)dlsym(
	    RTLD_DEFAULT, "memunreachable_recorded");
}

static inline uint32_t
recorded_word(uintptr_t address)
{
	const struct mu_recorded *all = recorded();
	const uint64_t *directory;
	const uint32_t *span;

	if (all == NULL || all->directory == 0 || address >> 48 != 0)
		return 0;
	directory = (const uint64_t *)(uintptr_t)all->directory;
	span = (const uint32_t *)(uintptr_t)
	    directory[address >> MU_SHADOW_SPAN_SHIFT];
	return span == NULL
	    ? 0
	    : span[address >> MU_SHADOW_WORD_SHIFT & (MU_SHADOW_WORDS - 1)];
}

/* The first word of the block at POINTER, or 0. */
static inline uint32_t
recorded_first(const void *pointer)
{
	uint32_t word = recorded_word((uintptr_t)pointer);

	return (word & MU_SHADOW_START) != 0 ? word : 0;
}

/* The size of a block that has a word. */
static inline size_t
recorded_size(const void *pointer)
{
	uintptr_t at = (uintptr_t)pointer;
	uint32_t half = recorded_word(at + 16);

	if (half != MU_SHADOW_LARGE)
		return half / 2;
	return (size_t)(recorded_word(at + 48) / 2) << 30 |
	    recorded_word(at + 32) / 2;
}

#endif

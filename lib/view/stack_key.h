/*
 * Stacks and numbers as keys of a sorter: see lib/view/code.h. A stack ends
 * with a 0, so that it comes before those that it is the beginning of.
 *
 * Pure.
 */
#ifndef LIB_VIEW_STACK_KEY_H
#define LIB_VIEW_STACK_KEY_H

#include <stdbool.h>

#include "lib/view/code.h"
#include "lib/view/records.h"
#include "lib/view/sorter.h"

/* Frames are below 2^32: 5 bytes each. */
_Static_assert(MU_RECORD_FRAMES * 5 + 1 + 4 * MU_CODE_MAX <= MU_SORTER_KEY_MAX,
    "a stack and four numbers fit");

/* Write COUNT of FRAMES to AT, or the last first. Returns the end. */
static inline unsigned char *
mu_stack_key_put(
    unsigned char *at, const uintptr_t *frames, size_t count, bool last_first)
{
	size_t i;

	for (i = 0; i < count; i++)
		at =
		    mu_code_put(at, frames[last_first ? count - i - 1 : i] + 1);
	return mu_code_put(at, 0);
}

/* Read up to MU_RECORD_FRAMES FRAMES from AT. Returns the end. */
static inline const unsigned char *
mu_stack_key_take(const unsigned char *at, uintptr_t *frames, size_t *count)
{
	uint64_t frame;

	*count = 0;
	for (;;) {
		at = mu_code_take(at, &frame);
		if (frame == 0 || *count == MU_RECORD_FRAMES)
			return at;
		frames[(*count)++] = (uintptr_t)frame - 1;
	}
}

#endif

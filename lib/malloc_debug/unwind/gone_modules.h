/*
 * Modules that dlclose() has unloaded: recorded stacks still refer to them.
 *
 * Runs in: the original, any thread; inside dlclose() one at a time.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_GONE_MODULES_H
#define LIB_MALLOC_DEBUG_UNWIND_GONE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

/* Call before dlclose(), and after one that has unloaded a module. */
void gone_modules_note(void);
void gone_modules_update(void);

/* Convert addresses to frames of the depot: see MU_FRAME_SHIFT. */
void gone_modules_mark(uintptr_t *frames, size_t num);

/* Convert a frame of the depot for readers. */
uint64_t gone_modules_frame(uint64_t frame);

/* The unloaded module of a frame for readers; NULL if there is none. */
const struct mu_recorded_module *gone_modules_of(uint64_t frame);

/*
 * One line for each, as from dump_modules(), but with the word "unloaded", and
 * with addresses as in frames for readers.
 */
void gone_modules_print(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

#endif

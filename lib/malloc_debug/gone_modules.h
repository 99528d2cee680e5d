/*
 * Modules that dlclose() has unloaded: stacks still lead into them.
 *
 * Runs in: the original, any thread; inside dlclose() only one at a time.
 */
#ifndef GONE_MODULES_H
#define GONE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

/* Before a dlclose(), and after one that has unloaded something. */
void gone_modules_note(void);
void gone_modules_update(void);

/* Addresses become frames of the depot: see MU_FRAME_SHIFT. */
void gone_modules_mark(uintptr_t *frames, size_t num);

/* One of the depot for readers. */
uint64_t gone_modules_frame(uint64_t frame);

/* The module of one for readers; NULL: one that is loaded, or none. */
const struct mu_recorded_module *gone_modules_of(uint64_t frame);

/* A line for each, as dump_modules() makes them but for the word "unloaded",
 * and for the addresses, which are as in frames for readers. */
void gone_modules_print(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

#endif

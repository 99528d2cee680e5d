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

/* The one that had the code at PC; NULL: none, or what is there now does. */
const struct mu_recorded_module *gone_modules_find(uintptr_t pc);

/* A line for each, as dump_modules() makes them but for the word "unloaded". */
void gone_modules_print(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

#endif

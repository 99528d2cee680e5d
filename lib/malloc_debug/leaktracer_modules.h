/*
 * The module table of a report: what lies where, so that addresses can be read
 * when the process is gone.
 *
 * Runs in: the original.
 */
#ifndef DEBUG_LEAKTRACER_MODULES_H
#define DEBUG_LEAKTRACER_MODULES_H

#include <stddef.h>

/*
 * As dump_modules() does it; where there is no /proc, from the list of loaded
 * objects, without build-ids.
 */
void leaktracer_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

#endif

/*
 * The module table of a report: the modules and their addresses, so that the
 * report can be read when the process has ended.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_MODULES_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_MODULES_H

#include <stddef.h>

/*
 * As dump_modules(); without /proc from the list of loaded objects, without
 * build-ids.
 */
void leaktracer_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

#endif

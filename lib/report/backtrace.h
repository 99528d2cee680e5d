/*
 * The frames of an entry: the first 16 in its struct Leak, the others after all
 * entries.
 *
 * Runs in: any.
 */
#ifndef LIB_REPORT_BACKTRACE_H
#define LIB_REPORT_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memunreachable/memunreachable.h"

/* The number of frames in BACKTRACE. */
size_t mu_backtrace_count(const struct LeakBacktrace *backtrace);

/* A frame by its number, innermost first. */
uintptr_t mu_backtrace_frame(
    const struct LeakBacktrace *backtrace, size_t number);

/*
 * The number of the innermost frame of an interpreted function, or of frames if
 * there is none: the calls of the interpreter are the same for all functions.
 */
size_t mu_backtrace_script(const struct LeakBacktrace *backtrace);

#endif

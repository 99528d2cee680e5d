/*
 * The frames of an entry: the first 16 in its struct Leak, further ones behind
 * all entries.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#ifndef LIB_BACKTRACE_H
#define LIB_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memunreachable/memunreachable.h"

/* Frames that BACKTRACE has. */
size_t mu_backtrace_count(const struct LeakBacktrace *backtrace);

/* One of them, innermost first. */
uintptr_t mu_backtrace_frame(
    const struct LeakBacktrace *backtrace, size_t number);

/* Further frames of all COUNT entries together. */
size_t mu_backtrace_more(const struct Leak *leaks, size_t count);

/* They are at WORDS, NUM of them, one entry's behind the other's; false: the
 * entries do not say so. */
bool mu_backtrace_attach(
    struct Leak *leaks, size_t count, const uintptr_t *words, size_t num);

#endif

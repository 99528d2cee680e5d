/*
 * Memory that the kernel empties in a forked image (MADV_WIPEONFORK): what it
 * referred to looks lost there.
 *
 * Runs in: sweeper. Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_WIPED_H
#define HEAPWALK_WIPED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does TEXT, whole lines of smaps, show such a mapping? Pure. Droppable ones
 * (vDSO getrandom states of glibc 2.41) do not count: the kernel may empty
 * them at any time, so that nobody keeps references there.
 */
bool mu_wiped_parse(const char *text, size_t length);

/*
 * Has the calling process one? To be asked only when something is lost: the
 * kernel walks all page tables for smaps.
 */
bool mu_wiped_any(void);

#endif

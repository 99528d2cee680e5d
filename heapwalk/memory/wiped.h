/*
 * Find memory that the kernel clears in a forked image (MADV_WIPEONFORK):
 * blocks that only it refers to look like leaks there.
 *
 * Runs in: sweeper.
 */
#ifndef HEAPWALK_MEMORY_WIPED_H
#define HEAPWALK_MEMORY_WIPED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mu/range.h"

/* State of the search; a mapping's lines may continue in the next text. */
struct mu_wiped {
	struct mu_range *ranges;
	size_t count, max; /* COUNT may exceed MAX */
	struct mu_range mapping;
};

/*
 * Add the mappings that TEXT, whole lines of smaps, shows as wiped. Pure.
 * Droppable ones (vDSO getrandom states of glibc 2.41) do not count: the kernel
 * may empty them at any time, so they hold no references.
 */
void mu_wiped_parse(struct mu_wiped *wiped, const char *text, size_t length);

/*
 * The calling process's wiped mappings, at most MAX into RANGES. Returns how
 * many there are. Call only if leaks were found: the kernel walks all page
 * tables for smaps.
 */
size_t mu_wiped_find(struct mu_range *ranges, size_t max);

/* The same for process PID. */
size_t mu_wiped_of(pid_t pid, struct mu_range *ranges, size_t max);

/*
 * True if FLAG, two letters, is in LINE of LENGTH bytes: "VmFlags: rd wr mr mw
 * me ac wf sd ".
 */
bool mu_vm_flag(const char *line, size_t length, const char *flag);

#endif

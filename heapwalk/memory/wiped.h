/*
 * Memory that the kernel empties in a forked image (MADV_WIPEONFORK): blocks
 * that it referred to look lost there.
 *
 * Runs in: sweeper.
 */
#ifndef HEAPWALK_MEMORY_WIPED_H
#define HEAPWALK_MEMORY_WIPED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mu/range.h"

/* What was found so far; the mapping of the last lines goes on in the next. */
struct mu_wiped {
	struct mu_range *ranges;
	size_t count, max; /* COUNT goes on beyond MAX */
	struct mu_range mapping;
};

/*
 * Add the mappings that TEXT, whole lines of smaps, shows as wiped. Pure.
 * Droppable ones (vDSO getrandom states of glibc 2.41) do not count: the kernel
 * may empty them at any time, so they hold no references.
 */
void mu_wiped_parse(struct mu_wiped *wiped, const char *text, size_t length);

/*
 * The calling process's, at most MAX into RANGES; how many there are. To be
 * asked only when something is lost: the kernel walks all page tables for
 * smaps.
 */
size_t mu_wiped_find(struct mu_range *ranges, size_t max);

/* The same of process PID. */
size_t mu_wiped_of(pid_t pid, struct mu_range *ranges, size_t max);

/*
 * Is FLAG, two letters, in LINE of LENGTH bytes: "VmFlags: rd wr mr mw me ac wf
 * sd "?
 */
bool mu_vm_flag(const char *line, size_t length, const char *flag);

#endif

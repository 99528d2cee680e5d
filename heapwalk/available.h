/*
 * How much memory a process may still take before somebody has to swap or be
 * killed: the machine's, or what its cgroup (v2) leaves if that is less.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_AVAILABLE_H
#define HEAPWALK_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Where that is told: /proc/meminfo, /proc/self/cgroup, /sys/fs/cgroup. */
struct mu_available_files {
	const char *meminfo, *own_cgroup, *cgroups;
};

/* Into *BYTES; false if nobody tells. */
bool mu_available(size_t *bytes);

/* The same from other files, for tests. */
bool mu_available_in(const struct mu_available_files *files, size_t *bytes);

#endif

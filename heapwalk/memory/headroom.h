/*
 * How much memory a process may still take before the kernel reclaims,
 * throttles or kills in its memory cgroup, or the machine runs out. The files
 * stay open to be read repeatedly.
 *
 * The limits are those of the process's memory cgroup and of each group above
 * it that this process can see, of version 1 (limit_in_bytes, memsw) and of
 * version 2 (max, high). Swap does not count: swapping for a check slows the
 * program down.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_MEMORY_HEADROOM_H
#define HEAPWALK_MEMORY_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "heapwalk/memory/cgroups.h"

/* The files to read; tests use others. */
struct mu_headroom_files {
	const char *meminfo;   /* /proc/meminfo */
	const char *mountinfo; /* /proc/self/mountinfo */
	const char *cgroup;    /* /proc/PID/cgroup */
};

#define MU_HEADROOM_LIMITS 8 /* only the tightest ones are kept */

struct mu_headroom {
	struct mu_headroom_limit {
		size_t bytes;
		int usage; /* file with the usage */
		int stat;  /* the group's memory.stat, or -1 */
	} limits[MU_HEADROOM_LIMITS];
	unsigned num_limits;
	int meminfo;    /* -1 if not available */
	bool unseen;    /* no mount shows the process's group, so its limits are
			   not known */
	bool kills_all; /* memory.oom.group: the OOM killer kills all processes
			   of a group, not just one */
};

/*
 * Open for process PID. Close in any case. What cannot be read is no limit.
 * KNOWN: where earlier calls found the cgroups, for the next; or NULL.
 */
void mu_headroom_open(
    struct mu_headroom *headroom, pid_t pid, struct mu_cgroups_known *known);
void mu_headroom_open_files(struct mu_headroom *headroom,
    const struct mu_headroom_files *files, struct mu_cgroups_known *known);

/*
 * Bytes that may still be taken; SIZE_MAX if not known. A cgroup's usage
 * includes page cache, which the kernel frees on demand: if less than ENOUGH is
 * left, clean cache that no process has mapped is added.
 */
size_t mu_headroom_left(const struct mu_headroom *headroom, size_t enough);

/* The same for the cgroups only, and for the machine only. */
size_t mu_headroom_left_in_groups(
    const struct mu_headroom *headroom, size_t enough);
size_t mu_headroom_left_of_machine(const struct mu_headroom *headroom);

/*
 * The number of threads and processes that the cgroups of process PID still
 * allow, as far as visible (pids.max). SIZE_MAX if there is no limit. KNOWN is
 * as above.
 */
size_t mu_headroom_tasks_of(pid_t pid, struct mu_cgroups_known *known);
size_t mu_headroom_tasks(
    const struct mu_headroom_files *files, struct mu_cgroups_known *known);

/* True if a cgroup with a limit contains both processes. */
bool mu_headroom_shares(
    const struct mu_headroom *headroom, const struct mu_headroom *other);

/* Accepts a zeroed HEADROOM with meminfo -1. */
void mu_headroom_close(struct mu_headroom *headroom);

#endif

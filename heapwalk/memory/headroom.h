/*
 * How much memory a process may still take before the kernel reclaims from it,
 * throttles it or kills in its memory group, or the machine runs out: read
 * again and again through descriptors that stay open.
 *
 * The limits are those of the process's memory cgroup and of each group above
 * it that this process can see, of version 1 (limit_in_bytes, memsw) and of
 * version 2 (max, high). Swap is not counted as room: what is swapped out for
 * a check slows the program down.
 */
#ifndef HEAPWALK_MEMORY_HEADROOM_H
#define HEAPWALK_MEMORY_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The files that say so; other files for tests. */
struct mu_headroom_files {
	const char *meminfo;   /* /proc/meminfo */
	const char *mountinfo; /* /proc/self/mountinfo */
	const char *cgroup;    /* /proc/PID/cgroup */
};

#define MU_HEADROOM_LIMITS 8 /* the tightest ones are kept */

struct mu_headroom {
	struct mu_headroom_limit {
		size_t bytes;
		int usage; /* descriptor of the file with the usage */
		int stat;  /* of the same group's memory.stat, or -1 */
	} limits[MU_HEADROOM_LIMITS];
	unsigned num_limits;
	int meminfo;    /* -1: not there */
	bool unseen;    /* the process is in a group that no mount shows here:
			   its limits are not known */
	bool kills_all; /* memory.oom.group: the OOM killer ends all of a
			   group's processes, not the one it prefers */
};

/* Of process PID. To be closed in any case. What cannot be read is no limit. */
void mu_headroom_open(struct mu_headroom *headroom, pid_t pid);
void mu_headroom_open_files(
    struct mu_headroom *headroom, const struct mu_headroom_files *files);

/*
 * Bytes that may still be taken now; SIZE_MAX: nothing tells. The cache of
 * files counts as taken in a group's usage although it is given back on demand:
 * where the usage leaves less than ENOUGH, the part of it that is clean and
 * mapped by no process is added.
 */
size_t mu_headroom_left(const struct mu_headroom *headroom, size_t enough);

/* The same of the groups alone, and of the machine alone. */
size_t mu_headroom_left_in_groups(
    const struct mu_headroom *headroom, size_t enough);
size_t mu_headroom_left_of_machine(const struct mu_headroom *headroom);

/*
 * Threads and processes that the groups of process PID, as far as they can be
 * seen, may still start: pids.max of each. SIZE_MAX: no limit.
 */
size_t mu_headroom_tasks_of(pid_t pid);
size_t mu_headroom_tasks(const struct mu_headroom_files *files);

/* Is a group that limits the one the same that limits the other? */
bool mu_headroom_shares(
    const struct mu_headroom *headroom, const struct mu_headroom *other);

/* Accepts a zeroed one with meminfo -1. */
void mu_headroom_close(struct mu_headroom *headroom);

#endif

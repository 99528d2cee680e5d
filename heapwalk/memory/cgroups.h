/*
 * The folders of a process's cgroups that limit its memory and its tasks.
 * Version 1 has a hierarchy for each controller, version 2 one for all; a
 * process can be in both.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_MEMORY_CGROUPS_H
#define HEAPWALK_MEMORY_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of hierarchies. */
enum {
	MU_CGROUP_MEMORY,  /* version 1 */
	MU_CGROUP_UNIFIED, /* version 2 */
	MU_CGROUP_PIDS,    /* version 1 */
	MU_CGROUP_KINDS
};

#define MU_CGROUP_PATH 4096 /* longer folders are ignored */
#define MU_CGROUP_KNOWN 256 /* longer folders are not remembered */

/* Location of a hierarchy, and of the process in it. */
struct mu_cgroup {
	char path[MU_CGROUP_PATH];   /* of the process, in the hierarchy */
	char folder[MU_CGROUP_PATH]; /* where the best mount shows it */
	size_t length, top;          /* of the folder; of its mount point */
	bool found;                  /* the process is in this hierarchy */
	bool mounted, elsewhere;     /* or mounts show other groups only */
};

/*
 * Where groups were found last, for the next time. A search of mountinfo takes
 * longer than all else, and a test asks for a check after each case. Zero:
 * nothing is known.
 */
struct mu_cgroups_known {
	struct mu_cgroup_known {
		char path[MU_CGROUP_KNOWN], folder[MU_CGROUP_KNOWN];
		size_t top;
		uint64_t mount; /* that shows the folder; 0: nothing is known */
	} of[MU_CGROUP_KINDS];
};

/*
 * Find the groups of the kinds FIRST and FIRST + 1, by the files
 * /proc/PID/cgroup and /proc/self/mountinfo; others are found, too, if the
 * latter is read. KNOWN: of earlier calls, or NULL.
 */
void mu_cgroups_find(struct mu_cgroup groups[MU_CGROUP_KINDS], unsigned first,
    const char *cgroup, const char *mountinfo, struct mu_cgroups_known *known);

/* Open a file of a mounted group for reading; -1 without it. */
int mu_cgroup_open(const struct mu_cgroup *group, const char *name);

/* Go on to the group above; false if no mount shows it. */
bool mu_cgroup_go_up(struct mu_cgroup *group);

#endif

/*
 * The rights and limits of a process that reads untrusted files.
 *
 * Runs in: the command, and a child that it forks.
 */
#ifndef SYMBOLIZE_CONFINEMENT_H
#define SYMBOLIZE_CONFINEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mu_cgroups_known;

#define MU_GROUPS_MAX 64 /* supplementary groups; more are dropped */

/* A set of rights. Zero: our own, without capabilities. */
struct mu_rights {
	bool known;
	uid_t uid;
	gid_t gid;
	gid_t groups[MU_GROUPS_MAX];
	size_t num_groups;
};

/*
 * The rights of process PID, from /proc/PID/status. If its ids differ, as in a
 * set-user-ID program, those that are not root's. Not known if it has ended.
 */
struct mu_rights mu_rights_of_process(pid_t pid);

/* The rights of the owner of the file PATH, with only the file's group. */
struct mu_rights mu_rights_of_file(const char *path);

/* True if they differ from our own, so that they can be taken on. */
bool mu_rights_other(const struct mu_rights *rights);

/*
 * Take on RIGHTS if we are root, give up all capabilities, and restrict the
 * process to reading: limits on memory, CPU time, core file and file size; with
 * seccomp, only the system calls that reading needs. Files that libraries open
 * by themselves must be regular files. NETWORK: allow writing files and all
 * calls, for debuginfod. WRITTEN is how large a file may get that is open for
 * writing. KNOWN: see heapwalk/memory/available.h. False: the rights could not
 * be given up. Cannot be undone.
 */
bool mu_confine(const struct mu_rights *rights, bool network, size_t written,
    struct mu_cgroups_known *known);

#endif

/*
 * The rights and the limits of a process that reads a stranger's files.
 *
 * Runs in: the command, and a child that it forks.
 */
#ifndef SYMBOLIZE_CONFINEMENT_H
#define SYMBOLIZE_CONFINEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MU_GROUPS_MAX 64 /* supplementary ones; others are given up */

/* Whose rights. Zero: our own, without capabilities. */
struct mu_rights {
	bool known;
	uid_t uid;
	gid_t gid;
	gid_t groups[MU_GROUPS_MAX];
	size_t num_groups;
};

/*
 * Of the process PID: by /proc/PID/status. Where its ids differ, as in a
 * set-user-ID program, those that are not root's. Not known: it has ended.
 */
struct mu_rights mu_rights_of_process(pid_t pid);

/* Of the owner of the file PATH, and of no group but the file's. */
struct mu_rights mu_rights_of_file(const char *path);

/* Do they differ from our own, so that they can be taken on? */
bool mu_rights_other(const struct mu_rights *rights);

/*
 * Take on RIGHTS if we are root, give up all capabilities, and be limited to
 * reading: memory, CPU time, no core file, no larger file; the system calls
 * that reading takes, where the kernel has seccomp. What libraries open by
 * themselves is opened only if it is a regular file. NETWORK: files may be
 * written, and any call made, for debuginfod. False: the rights could not be
 * given up. It cannot be undone.
 */
bool mu_confine(const struct mu_rights *rights, bool network);

#endif

/*
 * Recognise files that are in memory only: those on a tmpfs, by device number.
 *
 * mountinfo is used, not statfs() of the name: the name can be deleted, hidden
 * by another mount, or on a network file system that hangs.
 */
#ifndef HEAPWALK_SUBJECT_TMPFS_H
#define HEAPWALK_SUBJECT_TMPFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MU_TMPFS_ANSWERS 16

/* Caches its last answers. Initialise to zero. */
struct mu_tmpfs {
	struct mu_tmpfs_answer {
		unsigned major, minor;
		bool known, tmpfs;
	} answers[MU_TMPFS_ANSWERS];
	size_t next;
	bool asked_shmem, has_shmem;
	unsigned shmem_major, shmem_minor; /* device of memfd and its like */
	pid_t pid; /* process whose mounts are checked as well; 0: only ours */
};

/*
 * True if a whole line of TEXT, LENGTH bytes of a mountinfo file, says that the
 * device MAJOR:MINOR is a tmpfs. Pure.
 */
bool mu_tmpfs_parse(
    const char *text, size_t length, unsigned major, unsigned minor);

/*
 * Search the mountinfo of the process and our own, which may be in different
 * mount namespaces: device numbers are the same for the whole machine. False
 * also if neither can be read.
 */
bool mu_tmpfs_has(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor);

/*
 * The same, also true for the device of memfd, System V and anonymous shared
 * memory.
 */
bool mu_tmpfs_holds(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor);

#endif

/*
 * Which files live in memory only: those on a tmpfs, known by device number.
 *
 * From mountinfo and not by statfs() of the name: a name can be deleted, hide
 * behind another mount, or lead over a network file system that hangs.
 */
#ifndef HEAPWALK_SUBJECT_TMPFS_H
#define HEAPWALK_SUBJECT_TMPFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MU_TMPFS_ANSWERS 16

/* Remembers its last answers; the empty value is ready for use. */
struct mu_tmpfs {
	struct mu_tmpfs_answer {
		unsigned major, minor;
		bool known, tmpfs;
	} answers[MU_TMPFS_ANSWERS];
	size_t next;
	bool asked_shmem, has_shmem;
	unsigned shmem_major, shmem_minor; /* device of memfd and its like */
	pid_t pid; /* whose mounts are asked for as well; 0: ours alone */
};

/*
 * Does a whole line of the TEXT of a mountinfo file, LENGTH bytes, say that
 * the device MAJOR:MINOR is a tmpfs? A pure function.
 */
bool mu_tmpfs_parse(
    const char *text, size_t length, unsigned major, unsigned minor);

/*
 * Ask mountinfo of the process and our own, which need not be in one mount
 * namespace: the numbers of devices are the machine's. False also when neither
 * can be read.
 */
bool mu_tmpfs_has(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor);

/* Or is it the device of memfd, System V and anonymous shared memory? */
bool mu_tmpfs_holds(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor);

#endif

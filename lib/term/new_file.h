/*
 * A file that replaces another one when it is complete, so that a reader sees
 * the old or the new one, and a crash loses neither.
 *
 * Runs in: the command.
 */
#ifndef LIB_TERM_NEW_FILE_H
#define LIB_TERM_NEW_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "mu/status.h"

struct mu_new_file {
	const char *path;
	char name[PATH_MAX]; /* of the unfinished file; "": there is none */
	int fd;              /* -1: not open */
};

/*
 * Create one beside PATH, with mode 0600. MU_ERR_RESOURCES, also if PATH is a
 * device, a pipe or a folder. Close in any case.
 */
enum mu_status mu_new_file_open(
    struct mu_new_file *file, const char *path, struct mu_why *why);

/* Put it in the place of PATH, with MODE. */
enum mu_status mu_new_file_commit(
    struct mu_new_file *file, mode_t mode, struct mu_why *why);

/* Without a commit it is removed. */
void mu_new_file_close(struct mu_new_file *file);

#endif

/*
 * Open files whose names come from a process, a core or a report.
 *
 * Opening a FIFO waits for a writer, and opening a device may rewind a tape or
 * start a watchdog. So a path is first opened with O_PATH, which does neither,
 * and then for reading only if it is a regular file.
 *
 * Runs in: the command.
 */
#ifndef MU_REGULAR_FILE_H
#define MU_REGULAR_FILE_H

#include <sys/stat.h>

/*
 * Open PATH for reading, below the directory DIR (or AT_FDCWD) if it is
 * relative. Symbolic links are followed. Fills in ABOUT unless it is NULL.
 * Returns a descriptor with O_CLOEXEC, or -errno; -EINVAL if PATH is not a
 * regular file.
 */
int mu_regular_file_open(int dir, const char *path, struct stat *about);

/* The same for FD, which was opened with O_PATH. FD stays open. */
int mu_regular_file_reopen(int fd, struct stat *about);

#endif

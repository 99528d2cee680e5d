/*
 * Open files whose names come from a process, a core or a report.
 *
 * Opening a FIFO waits for a writer, and opening a device may rewind a tape or
 * start a watchdog. A path is therefore first looked up with O_PATH, which does
 * neither, and opened for reading only if it leads to a regular file.
 *
 * Runs in: the command. Uses no malloc, no errno.
 */
#ifndef MU_REGULAR_FILE_H
#define MU_REGULAR_FILE_H

#include <sys/stat.h>

/*
 * Open PATH for reading, below the directory DIR (or AT_FDCWD) if it is
 * relative. Symbolic links are followed. Fills in ABOUT unless it is NULL.
 * Returns a descriptor with O_CLOEXEC, or -errno; -EINVAL if it is no regular
 * file.
 */
int mu_regular_file_open(int dir, const char *path, struct stat *about);

/* The same for FD, which O_PATH opened; FD stays open. */
int mu_regular_file_reopen(int fd, struct stat *about);

#endif

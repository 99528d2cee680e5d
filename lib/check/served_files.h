/*
 * Files that another process or another machine serves: FUSE and network file
 * systems. If it does not answer, a read of a page of such a file, also through
 * /proc/PID/mem, waits in the kernel, and SIGKILL does not end the wait
 * (Linux 6.18: access_remote_vm() without FAULT_FLAG_KILLABLE).
 *
 * Runs in: the command.
 */
#ifndef LIB_CHECK_SERVED_FILES_H
#define LIB_CHECK_SERVED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * False if all files that process PID has mapped are of local file systems, as
 * its mounts tell. Opens none of its files.
 */
bool mu_maps_served_files(pid_t pid);

/*
 * True if the main thread of process PID, which we may trace, waits in the
 * kernel for a file, not for a pipe or another process.
 */
bool mu_waits_for_file(pid_t pid);

#endif

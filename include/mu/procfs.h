/*
 * The one door to /proc. Where /proc is not mounted, as in a chroot without
 * it, or shows another PID namespace, whose numbers are other processes, a
 * procfs that is mounted nowhere stands in for the length of a pass.
 *
 * Every path given here begins with "/proc/". Uses no malloc, no errno, no
 * libc lock.
 */
#ifndef MU_PROCFS_H
#define MU_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mu/status.h"

/*
 * Before a pass reads anything, with the pass lock held. MU_ERR_NO_PROC:
 * neither /proc nor a stand-in can be had. Runs in: original.
 */
enum mu_status mu_procfs_enter(struct mu_why *why);

/* After the pass. May be called twice. Runs in: original. */
void mu_procfs_leave(void);

/* The stand-in, for lists of what is not to be closed; -1 = there is none. */
int mu_procfs_descriptor(void);

/* Does the door show the calling process under its own number? */
bool mu_procfs_shows_us(void);

/* Where *PATH starts, for calls named ...at(); *PATH may move. */
int mu_procfs_at(const char **path);

/* O_CLOEXEC goes without saying. The descriptor, or -errno. */
int mu_procfs_open(const char *path, int flags);

/* As mu_sys_read_file(). */
ssize_t mu_procfs_read(const char *path, char *buffer, size_t size);

#endif

/*
 * All access to /proc. /proc may not be mounted, as in a chroot, or it may
 * belong to another PID namespace, where the same number is another process.
 * Then a procfs that is mounted nowhere replaces it for the length of a pass.
 *
 * Every path given here begins with "/proc/".
 */
#ifndef MU_PROCFS_H
#define MU_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mu/status.h"

/*
 * Call before a pass reads anything, with the pass lock held. MU_ERR_NO_PROC:
 * /proc is not usable, and no replacement can be mounted. Runs in: original.
 */
enum mu_status mu_procfs_enter(struct mu_why *why);

/* To be called after the pass. May be called twice. Runs in: original. */
void mu_procfs_leave(void);

/*
 * Descriptor of the replacement, for lists of descriptors to keep open; -1:
 * none.
 */
int mu_procfs_descriptor(void);

/* True if this /proc shows the calling process under its own PID. */
bool mu_procfs_shows_us(void);

/*
 * The directory descriptor to pass with *PATH to calls named ...at(); *PATH may
 * change.
 */
int mu_procfs_at(const char **path);

/* Opens with O_CLOEXEC. Returns the descriptor, or -errno. */
int mu_procfs_open(const char *path, int flags);

/* As mu_sys_read_file(). */
ssize_t mu_procfs_read(const char *path, char *buffer, size_t size);

#endif

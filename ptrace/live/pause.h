/*
 * Detect before a stop what would make it long.
 *
 * A thread in uninterruptible sleep (for a disk, a network file system, or in
 * vfork() until the child executes a program) stops when that is over, and all
 * others would be stopped until then.
 *
 * Runs in: collector, keeper, the command.
 */
#ifndef PTRACE_LIVE_PAUSE_H
#define PTRACE_LIVE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"
#include "mu/sys.h"

/*
 * Each thread of process PID was seen not to sleep so, or has ended. Otherwise,
 * after a while, MU_ERR_TIMEOUT, and WHY says which thread.
 */
enum mu_status mu_pause_await_calm(pid_t pid, struct mu_why *why);

/*
 * Bytes of process PID that would have to be read while it stands still:
 * resident or swapped out, and not of a file. 0: not known.
 */
uint64_t mu_pause_bytes(pid_t pid);

/* How long that takes at least. Measured: 0.5 to 1 GB/s with two workers. */
static inline uint64_t
mu_pause_ns(uint64_t bytes)
{
	return bytes;
}

/* The --max-pause, in seconds, for what would take NS: a machine gets busier.
 */
static inline unsigned
mu_pause_advice(uint64_t ns)
{
	return (unsigned)(2 * ns / MU_NS_PER_SEC) + 1;
}

/*
 * MU_ERR_TIMEOUT, and in words that reading BYTES of process PID, or copying it
 * (0), would take longer than a stop may take: about NS.
 */
enum mu_status mu_pause_too_long(
    pid_t pid, uint64_t bytes, uint64_t ns, struct mu_why *why);

/*
 * Some memory of process PID is registered with a userfaultfd: can that have
 * events for forks? Then a fork waits until they have been read: by a thread of
 * the process, which may stand still, or by another process, which may never do
 * it, and the thread that forks is stuck until then. False only if PID has
 * descriptors of such, and none of them has those events.
 */
bool mu_pause_fork_waits(pid_t pid);

#endif

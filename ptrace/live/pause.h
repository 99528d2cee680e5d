/*
 * Detect, before a stop, what would make it long.
 *
 * A thread in uninterruptible sleep (for a disk, a network file system, or in
 * vfork() until the child executes a program) stops only when the sleep is
 * over, and all other threads would be stopped until then.
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
#include "ptrace/live/asleep.h"

/*
 * Wait until each thread of process PID has been seen outside of
 * uninterruptible sleep or has ended. One that sleeps on is added to ASLEEP; if
 * that is full or NULL: MU_ERR_TIMEOUT, and WHY names the thread. FILTERED,
 * unless NULL: whether a thread has a seccomp filter that the program added.
 */
enum mu_status mu_pause_await_interruptible(
    pid_t pid, bool *filtered, struct mu_asleep *asleep, struct mu_why *why);

/* MU_ERR_TIMEOUT, with WHY: thread TID of process PID sleeps on. */
enum mu_status mu_pause_sleeps(pid_t pid, pid_t tid, struct mu_why *why);

/*
 * True if the cgroup of thread TID is frozen, as docker pause does. In version
 * 2 the thread can be stopped, but makes no call; in version 1 it is in
 * uninterruptible sleep.
 */
bool mu_pause_is_frozen(pid_t tid);

/*
 * The number of seccomp filters that process PID began with, as far as can be
 * seen: as many as its parent has, or the one of a container's runtime, which
 * permits restart_syscall(2).
 */
int64_t mu_pause_first_filters(pid_t pid);

/*
 * True if the thread whose file STATUS is has others than those FIRST ones, or
 * if that is not known (before Linux 5.9).
 */
bool mu_pause_has_added_filter(const char *status, int64_t first);

/*
 * The bytes of process PID that would have to be read during a stop: resident
 * or swapped out, and not of a file. 0 if not known.
 */
uint64_t mu_pause_bytes(pid_t pid);

/*
 * The least time that reading BYTES takes. Measured: 0.5 to 1 GB/s with two
 * workers.
 */
static inline uint64_t
mu_pause_ns(uint64_t bytes)
{
	return bytes;
}

/* The same with a list of all MAPPINGS, each of which may have to be asked. */
static inline uint64_t
mu_pause_read_ns(uint64_t bytes, size_t mappings)
{
	return mu_pause_ns(bytes) + mappings * 1000;
}

/*
 * The same for memory of which few pages are kept. Measured: 5 to 9 GB/s with
 * two workers.
 */
static inline uint64_t
mu_pause_sifted_ns(uint64_t bytes)
{
	return bytes / 4;
}

/*
 * The value of --max-pause, in seconds, to advise for work that takes NS; it
 * leaves a margin for a busier machine.
 */
static inline unsigned
mu_pause_advice(uint64_t ns)
{
	return (unsigned)(2 * ns / MU_NS_PER_SEC) + 1;
}

/*
 * Returns MU_ERR_TIMEOUT, with a text that reading BYTES of process PID, or
 * copying it if BYTES is 0, would take about NS, which is longer than a stop
 * may last.
 */
enum mu_status mu_pause_too_long(
    pid_t pid, uint64_t bytes, uint64_t ns, struct mu_why *why);

/*
 * Returns MU_ERR_TIMEOUT, with a text that a copy of process PID was given up
 * that took longer than a stop may last: NS for the thread that made it.
 */
enum mu_status mu_pause_was_long(pid_t pid, uint64_t ns, struct mu_why *why);

/*
 * Some memory of process PID is registered with a userfaultfd. Returns true if
 * that may have fork events enabled. Then a fork waits until its event has been
 * read: by a thread of the process, which may be stopped, or by another
 * process, which may never read it. Returns false only if PID has userfaultfds
 * and none has these events.
 */
bool mu_pause_fork_waits(pid_t pid);

/* True if process PID has a userfaultfd with fork events enabled. */
bool mu_pause_has_fork_events(pid_t pid);

#endif

/*
 * Threads in uninterruptible sleep: for a disk or a network file system that
 * does not answer, or in vfork() until the child executes a program. No stop
 * reaches them. They are left out of it, and an image is good if they slept all
 * the time, since then they have changed nothing.
 *
 * Runs in: keeper.
 */
#ifndef PTRACE_LIVE_ASLEEP_H
#define PTRACE_LIVE_ASLEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/subject/snapshot.h"
#include "ptrace/live/registers.h"

#define MU_ASLEEP_MAX 16

struct mu_asleep {
	pid_t tids[MU_ASLEEP_MAX];
	int64_t switches[MU_ASLEEP_MAX]; /* mu_asleep_switches() */
	size_t count;
};

/*
 * The number of times that a thread has given up a CPU, from its file STATUS;
 * -1 if that is not known or it is not in uninterruptible sleep.
 */
int64_t mu_asleep_switches(const char *status);

/*
 * Add thread TID with SWITCHES, not -1. Returns false if there is no room.
 */
bool mu_asleep_add(struct mu_asleep *asleep, pid_t tid, int64_t switches);

/* True if thread TID is one of them. Accepts NULL: there are none. */
bool mu_asleep_has(const struct mu_asleep *asleep, pid_t tid);

/* The first of them, of process PID, that has run since; 0: none. */
pid_t mu_asleep_woken(const struct mu_asleep *asleep, pid_t pid);

/*
 * Fill THREAD with what the kernel tells of thread TID of PID: its stack
 * pointer, the arguments of its system call, and where its descriptor is. In
 * vfork() all of its stack counts, as the child's frames lie below its own.
 * Returns false if memory is exhausted.
 */
bool mu_asleep_read(
    struct mu_thread *thread, pid_t pid, pid_t tid, struct mu_words *words);

#endif

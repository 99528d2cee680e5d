/*
 * A copy of a stopped process, as fork() makes one, that never runs: its memory
 * stays as it is now, while the process goes on.
 *
 * What of the memory is not in the copy, or not as it was, is for the reader to
 * see to, before the release:
 * - a mapping with MADV_DONTFORK is not there: reading it fails;
 * - one with MADV_WIPEONFORK is there, and reads as zeros (/proc/PID/smaps has
 *   "dc" and "wf" among the VmFlags of these two);
 * - shared mappings are the process's own memory: they go on changing.
 * The copy's registers mean nothing. To open /proc/COPY/mem is an attach to
 * Yama, for which ptrace_scope 1 lets the tracer do it, who made the copy, but
 * perhaps not others.
 *
 * What the process may notice: nothing, but for the time, and page faults at
 * its first writes. The copy shares its table of descriptors at first, so that
 * what the process closes is closed, and then has none
 * (mu_process_copy_leave_files). The copy is no result of a wait without __WALL
 * and __WCLONE, and its end sends no signal.
 *
 * Runs in: keeper; what is said of one thread in threads.h holds here as well.
 */
#ifndef PTRACE_LIVE_PROCESS_COPY_H
#define PTRACE_LIVE_PROCESS_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"
#include "ptrace/live/remote_call.h"
#include "ptrace/live/threads.h"

#define MU_COPY_KILLED "the copy was killed; was memory short?"

struct mu_process_copy {
	pid_t pid;   /* in our PID namespace; 0 = there is no copy */
	pid_t child; /* in the namespace of its parent */
	struct mu_return_code code; /* of its process: it has the same */
	uintptr_t name, end; /* in it: MU_REMOTE_COPY, and a frame to its end */
};

/*
 * COPY may be in memory that another process shares, which ends the copy if
 * this one is killed: its number is there as soon as it is born. Before that
 * thread runs on it ends the copy itself (mu_remote_call_make).
 *
 * Copy the process whose THREADS are all stopped. They stay stopped; one of
 * them may be in another stop than before (mu_remote_call_make). The copy ends
 * with the thread that called this: by itself, and once it has its name by
 * PTRACE_O_EXITKILL. It does not stand still yet: mu_process_copy_settle().
 *
 * On failure there is no copy, or one that mu_process_copy_drop() has to see
 * to, nothing else has changed, and memory can be read as long as the process
 * is stopped. MU_ERR_BUSY, MU_ERR_PTRACE_SECCOMP: it cannot be made to do a
 * system call. MU_ERR_RESOURCES, MU_ERR_NO_MEMORY: the kernel gave no process
 * (RLIMIT_NPROC, pids cgroup) or no memory (overcommit). MU_ERR_TIMEOUT: of
 * THREADS all but one may have been released. MU_ERR_TARGET_GONE.
 */
enum mu_status mu_process_copy_make(struct mu_process_copy *copy,
    struct mu_threads *threads, uint64_t deadline_ns, struct mu_why *why);

/*
 * Wait until the new copy stands still, as the functions below want it. For
 * that it must be given a CPU once, for which it was seen to wait 380 ms on a
 * busy machine: THREADS need not stand still as well. If it is killed before,
 * its memory goes at once. Runs in the thread that made the copy.
 * MU_ERR_HELPER_DIED, MU_ERR_TIMEOUT: mu_process_copy_drop() has to see to it.
 */
enum mu_status mu_process_copy_settle(const struct mu_process_copy *copy,
    uint64_t deadline_ns, struct mu_why *why);

/*
 * Has the copy been killed, by the OOM killer or someone else? Then it stands
 * still with its memory until mu_process_copy_end(), and the OOM killer takes
 * no other process. Accepts the empty value.
 */
bool mu_process_copy_was_killed(const struct mu_process_copy *copy);

/*
 * Kill the copy, and wait as its tracer: then it is a zombie of its parent's.
 * Its memory is given back first, which takes a while; false: DEADLINE_NS came
 * first.
 */
bool mu_process_copy_end(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * Have the copy make CALL. It must be one that returns, and that nothing but
 * the copy notices. Runs in the thread that made the copy. Errors as of
 * mu_remote_call_make().
 */
enum mu_status mu_process_copy_call(const struct mu_process_copy *copy,
    struct mu_remote_call *call, uint64_t deadline_ns, struct mu_why *why);

/*
 * Name the copy MU_REMOTE_COPY, which distinguishes it from children of the
 * process. Call before all other calls in it. Runs in the thread that made the
 * copy.
 */
void mu_process_copy_name(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * The copy's table of descriptors is no more that of its process, and empty:
 * what the process leaves behind at its end or at an execve(), such as sockets,
 * pipes and locks, is not held by the copy. Nothing is closed by that. False:
 * the table stays, as before Linux 5.9. Runs in the thread that made the copy.
 */
bool mu_process_copy_leave_files(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * Kill the copy of process PID, which runs, and reap it: one thread of PID,
 * stopped for a moment, is made to wait for it. If PID has ended, init does
 * that. Otherwise, after a failure, it is a zombie for as long as PID lives.
 * Accepts the empty value.
 */
enum mu_status mu_process_copy_drop(struct mu_process_copy *copy, pid_t pid,
    uint64_t deadline_ns, struct mu_why *why);

/*
 * Have process PID reap the copies of it that were left: those that ended with
 * every process that could have had them reaped. A few at most, until
 * DEADLINE_NS; what is left then is left to the next call. BACK:
 * mu_remote_code_back() of PID, or 0. Takes a file for each of its threads, as
 * does the question whether there are any.
 */
void mu_process_copy_drop_left(pid_t pid, uintptr_t back, uint64_t deadline_ns);
bool mu_process_copy_any_left(pid_t pid);

#endif

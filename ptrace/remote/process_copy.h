/*
 * A copy of a stopped process, made as fork() does, that never runs. Its memory
 * stays as it is while the process continues.
 *
 * Some memory is not in the copy, or differs, and the reader must handle it
 * before the process is released:
 * - a mapping with MADV_DONTFORK is missing: reading it fails;
 * - a mapping with MADV_WIPEONFORK reads as zeros (/proc/PID/smaps shows "dc"
 * and "wf" in the VmFlags of these two);
 * - shared mappings are the process's own memory and go on changing.
 * The copy's registers mean nothing. Yama treats opening /proc/COPY/mem as an
 * attach: with ptrace_scope 1 the tracer, which made the copy, may do it, but
 * perhaps no other process.
 *
 * The process notices nothing but the time, and page faults at its first
 * writes. At first the copy shares the process's table of descriptors, so that
 * what the process closes is closed; then it has none
 * (mu_process_copy_leave_files()). The copy is not reported by a wait without
 * __WALL and __WCLONE, and sends no signal when it ends.
 *
 * Runs in: keeper; what threads.h says about one thread applies here too.
 */
#ifndef PTRACE_REMOTE_PROCESS_COPY_H
#define PTRACE_REMOTE_PROCESS_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/remote_call.h"

#define MU_COPY_KILLED "the copy was killed; was memory short?"

struct mu_process_copy {
	pid_t pid;   /* in our PID namespace; 0 if there is no copy */
	pid_t child; /* in its parent's PID namespace */
	struct mu_return_code code; /* of its process; valid in the copy too */
	uintptr_t name, end; /* addresses in the copy: MU_REMOTE_COPY, and a
				frame that exits */
	struct mu_lender *lender; /* as in struct mu_wakeup */
	bool ended; /* its tracer has waited for its end: its parent may have
		       done so, too, and another process may have its number */
};

/*
 * Copy the process whose THREADS are all stopped. They stay stopped; one of
 * them may be in another stop than before (mu_remote_call_make()). COPY may lie
 * in memory shared with another process, which can kill the copy if this one is
 * killed: the copy's number is stored as soon as the copy exists. Until that
 * thread runs again the copy ends by itself.
 *
 * The copy dies with the thread that called this: before it has its name by
 * itself, afterwards by PTRACE_O_EXITKILL. It may not have stopped yet: call
 * mu_process_copy_await_stop().
 *
 * FORK_NS is an estimate of the time that the kernel needs: without so much
 * time no copy is made, as a fork cannot be interrupted. At DEADLINE_NS all but
 * one of THREADS are released, or threads->hold_ns later, and the copy that
 * comes then is a failure.
 *
 * On failure there is no copy, or one that must be ended and reaped (PID), best
 * when the process runs: that takes as long as making it. Nothing else has
 * changed, and memory can be read while the process is stopped. MU_ERR_BUSY,
 * MU_ERR_PTRACE_SECCOMP: no thread can be made to do a system call.
 * MU_ERR_RESOURCES, MU_ERR_NO_MEMORY: the kernel refused a process
 * (RLIMIT_NPROC, pids cgroup) or memory (overcommit). MU_ERR_TIMEOUT,
 * MU_ERR_TARGET_GONE.
 */
enum mu_status mu_process_copy_make(struct mu_process_copy *copy,
    struct mu_threads *threads, uint64_t fork_ns, uint64_t deadline_ns,
    struct mu_why *why);

/*
 * Wait until the new copy has stopped, which the functions below require. It
 * needs a CPU once for that, and was seen to wait 380 ms for one on a busy
 * machine, so THREADS may be released before. If the copy is killed before it
 * stops, its memory is freed at once. Runs in the thread that made the copy.
 * MU_ERR_HELPER_DIED, MU_ERR_TIMEOUT: the copy must be ended and reaped.
 */
enum mu_status mu_process_copy_await_stop(const struct mu_process_copy *copy,
    uint64_t deadline_ns, struct mu_why *why);

/*
 * True if the copy has been killed, by the OOM killer or another process. It
 * then stays, with its memory, until mu_process_copy_end(), and the OOM killer
 * selects no other process. Accepts the empty value.
 */
bool mu_process_copy_was_killed(const struct mu_process_copy *copy);

/*
 * Kill the copy and wait for it as its tracer; it is then a zombie of its
 * parent, which mu_process_copy_reap_ended() makes reap it. Freeing its memory
 * takes a while; returns false if DEADLINE_NS comes first. Does nothing if the
 * copy has ended.
 */
bool mu_process_copy_end(struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * Make the copy execute CALL, which must return and affect nothing but the
 * copy. Runs in the thread that made the copy. Errors are those of
 * mu_remote_call_make().
 */
enum mu_status mu_process_copy_call(const struct mu_process_copy *copy,
    struct mu_remote_call *call, uint64_t deadline_ns, struct mu_why *why);

/*
 * Name the copy MU_REMOTE_COPY, which distinguishes it from children of the
 * process. A copy that would make another call instead is killed. Call before
 * all other calls in it. Runs in the thread that made the copy.
 */
void mu_process_copy_name(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * Give the copy an empty table of descriptors, so that it does not keep open
 * what the process gives up at its end or at an execve(), such as sockets,
 * pipes and locks. Nothing is closed by this. Returns false if the table stays
 * shared, as before Linux 5.9. Runs in the thread that made the copy.
 */
bool mu_process_copy_leave_files(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/*
 * Make process PID reap copies of it that earlier tools left as zombies because
 * they were killed themselves. At most a few, until DEADLINE_NS; the next call
 * continues. BACK is mu_remote_code_back() of PID, or 0. Reads one file for
 * each thread of PID, even if there are none.
 */
void mu_process_copy_drop_left(pid_t pid, uintptr_t back, uint64_t deadline_ns);
bool mu_process_copy_any_left(pid_t pid);

#endif

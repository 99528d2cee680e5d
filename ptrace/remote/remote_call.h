/*
 * Make one system call in a stopped thread of another process, and restore the
 * thread: registers, signal mask, and the call that our stop interrupted, which
 * continues after the release.
 *
 * Runs in: keeper, collector, the command, in the thread that stopped the other
 * one.
 */
#ifndef PTRACE_REMOTE_REMOTE_CALL_H
#define PTRACE_REMOTE_REMOTE_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"
#include "ptrace/remote/remote_thread.h"

struct mu_remote_call {
	long nr;
	uintptr_t args[6];
	long result; /* as the kernel returns it: -errno on failure */
	pid_t born; /* child that the call started, in *our* PID namespace; 0 if
		       none; valid after a failure, too */
	uint64_t least_ns;   /* how long it takes: it is not begun if it would
				end after the deadline */
	pid_t *note;         /* set as soon as the child exists; may be NULL */
	void *answer;        /* copy of what the call wrote at
				mu_remote_return_answer() */
	size_t answer_bytes; /* at most MU_REMOTE_ANSWER; 0 for none */
};

/*
 * Make CALL in THREAD (mu_remote_thread_check()). MU_OK: the call was made, and
 * RESULT is its result. In any case the thread is restored and stopped again;
 * THREAD->tracee has the stop. Usually it is the one that it was in; otherwise
 * a group stop, if SIGSTOP arrived, or a stop before the delivery of a signal.
 *
 * The call should end by itself. At DEADLINE_NS (CLOCK_MONOTONIC) it is
 * interrupted, and the other threads are released (threads->hold_ns later),
 * since it may be waiting for them. MU_ERR_TIMEOUT is returned only when the
 * call has ended, or was not begun: a thread with our registers cannot be left
 * alone.
 *
 * If the caller is killed in the middle, the thread may or may not make the
 * call, and then restores its own registers and mask (remote_return.h); a child
 * that clone() has started by then, with mu_remote_return_child_stack() and
 * _pid(), exits and is reaped. The interrupted call of the thread starts again,
 * a sleep or poll with its whole time; one that was restarted before may fail
 * with EINTR.
 *
 * The thread makes this call or none. If the instruction was rewritten and
 * makes another call, that is cancelled at its entry (ENOSYS) and the thread is
 * restored. If the process runs another program by then, nothing is written to
 * it.
 *
 * MU_ERR_TARGET_GONE: the thread was killed, or runs another program.
 * MU_ERR_BUSY: a signal came that cannot be blocked, or the instruction did not
 * work.
 */
enum mu_status mu_remote_call_make(struct mu_remote_call *call,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why);

#endif

/*
 * Make one system call in a stopped thread of another process, and restore the
 * thread: registers, signal mask, and the call that our stop interrupted, which
 * continues after the release.
 *
 * Runs in: keeper, collector, the command, in the thread that stopped the other
 * one.
 */
#ifndef PTRACE_LIVE_REMOTE_CALL_H
#define PTRACE_LIVE_REMOTE_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/status.h"
#include "ptrace/live/remote_thread.h"

struct mu_remote_call {
	long nr;
	uintptr_t args[6];
	long result;  /* as the kernel gives it: -errno is a failure */
	pid_t born;   /* child that it started, in *our* PID namespace; 0 =
			 none; also after a failure */
	pid_t *note;  /* written when that is born; may be NULL */
	void *answer; /* what the call wrote at mu_remote_return_answer(), */
	size_t answer_bytes; /* at most MU_REMOTE_ANSWER; 0: nothing */
};

/*
 * Make CALL in THREAD (mu_remote_thread_check). MU_OK: it was made, RESULT says
 * how it went. Whatever happens, the thread is put back and is in a stop again,
 * which THREAD->tracee tells: mostly the one it was in; a stop by job control,
 * if SIGSTOP came in between; or before the delivery of a signal.
 *
 * The call should end by itself. At DEADLINE_NS (CLOCK_MONOTONIC) it is
 * interrupted, the other threads are let go, which it may be waiting for, and
 * when it has ended, whenever that is, MU_ERR_TIMEOUT is returned: a thread
 * with our registers cannot be left alone.
 *
 * If the caller is killed in the middle, the thread makes the call or does not,
 * and takes its own registers and mask back (remote_return.h); a child that a
 * clone() has started by then, with mu_remote_return_child_stack() and _pid(),
 * ends and is reaped. Its interrupted call begins anew, a sleep or
 * poll with its whole time; one that was restarted before may end with EINTR.
 *
 * The thread makes this call or none. If the instruction was rewritten and
 * leads to another one, that is cancelled at its entry (ENOSYS) and the thread
 * is put back. If the process runs another program all the same, nothing is
 * written to it.
 *
 * MU_ERR_TARGET_GONE: the thread was killed, or runs another program.
 * MU_ERR_BUSY: a signal came that cannot be blocked, or the instruction did not
 * work.
 */
enum mu_status mu_remote_call_make(struct mu_remote_call *call,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why);

#endif

#include "ptrace/live/tracee.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "mu/sys.h"

#define EVENT_STOP 128 /* PTRACE_EVENT_STOP; glibc before 2.26 had 7 */

static bool
is_stop_signal(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN ||
	    signo == SIGTTOU;
}

void
mu_tracee_classify(struct mu_tracee *tracee, int status)
{
	int signo = status & 0x7f, event = status >> 8;

	tracee->signal = 0;
	if (event == 0) {
		tracee->state = MU_TRACEE_SIGNAL_STOPPED;
		tracee->signal = signo;
	} else if (event == EVENT_STOP && is_stop_signal(signo)) {
		tracee->state = MU_TRACEE_GROUP_STOPPED;
	} else {
		/*
		 * Our interrupt (EVENT_STOP with SIGTRAP), or an event that we
		 * did not ask for. Neither has a signal to pass on.
		 */
		tracee->state = MU_TRACEE_STOPPED;
	}
}

long
mu_tracee_seize(struct mu_tracee *tracee)
{
	long error = mu_sys_ptrace(PTRACE_SEIZE, tracee->tid, 0, 0);

	if (error == 0)
		tracee->state = MU_TRACEE_SEIZED;
	return error;
}

long
mu_tracee_interrupt(const struct mu_tracee *tracee)
{
	return mu_sys_ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
}

/*
 * Check whether the thread has stopped or ended. waitid() without WEXITED (for
 * tracees that are clones: Linux 4.7 and newer) reports stops only, and fails
 * with ECHILD for a zombie, also for a leader that ended before its threads;
 * wait4() would block on that one until the whole process ends.
 *
 * WNOWAIT: the kernel forgets the signal of a stop that was waited for
 * (wait_task_stopped() clears exit_code), and if we are killed then, the thread
 * continues without it. The leader's other stops are consumed, for
 * mu_tracee_confirm().
 */
bool
mu_tracee_look(struct mu_tracee *tracee, pid_t pid)
{
	const int options = WSTOPPED | WNOHANG | MU_WALL;
	siginfo_t info;
	long error;

	info.si_pid = 0;
	error = mu_syscall6(SYS_waitid, P_PID, tracee->tid, (long)&info,
	    options | WNOWAIT, 0, 0);
	if (error == -ECHILD) {
		if (tracee->tid != pid)
			mu_sys_wait(tracee->tid, NULL, WNOHANG | MU_WALL);
		tracee->state = MU_TRACEE_GONE;
		return true;
	}
	if (error < 0 || info.si_pid == 0)
		return false;
	mu_tracee_classify(tracee, info.si_status);
	if (tracee->tid == pid && tracee->state != MU_TRACEE_SIGNAL_STOPPED)
		mu_syscall6(
		    SYS_waitid, P_PID, tracee->tid, (long)&info, options, 0, 0);
	return true;
}

bool
mu_tracee_await(struct mu_tracee *tracee, pid_t pid, struct mu_wakeup *wakeup,
    uint64_t deadline_ns)
{
	wakeup->slow = false;
	while (!mu_tracee_look(tracee, pid)) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_wakeup_await(wakeup, tracee->tid, deadline_ns);
		/*
		 * execve() gives the tid of a leader that we traced to a thread
		 * that we do not trace. If it is our child, waitid() would then
		 * wait for it for ever.
		 */
		if (mu_tracee_interrupt(tracee) == -ESRCH &&
		    !mu_tracee_look(tracee, pid))
			tracee->state = MU_TRACEE_GONE;
		if (tracee->state != MU_TRACEE_SEIZED)
			return true;
	}
	return true;
}

bool
mu_tracee_confirm(struct mu_tracee *tracee, pid_t pid)
{
	unsigned long message;

	/* Any request that needs a stopped tracee would do. */
	if (mu_sys_ptrace(PTRACE_GETEVENTMSG, tracee->tid, 0,
		(uintptr_t)&message) == -ESRCH) {
		tracee->state = MU_TRACEE_SEIZED;
		return false;
	}
	/*
	 * Another thread that took over the leader's tid by execve() may have
	 * stopped since, in a stop that was not waited for yet.
	 */
	return tracee->tid != pid ||
	    tracee->state == MU_TRACEE_SIGNAL_STOPPED ||
	    !mu_tracee_look(tracee, pid);
}

bool
mu_tracee_detach(struct mu_tracee *tracee)
{
	if (mu_sys_ptrace(PTRACE_DETACH, tracee->tid, 0,
		(uintptr_t)tracee->signal) == -ESRCH) {
		tracee->state = MU_TRACEE_SEIZED;
		return false;
	}
	tracee->state = MU_TRACEE_GONE;
	return true;
}

#include "ptrace/remote/remote_stop.h"

#include <signal.h>
#include <sys/ptrace.h>

#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/wakeup.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

/* How long to wait at a time for a thread that has not stopped. */
#define SLICE_NS (50 * 1000 * 1000ull)

static long
request(const struct mu_remote_stop *stop, long what, uintptr_t address,
    uintptr_t data)
{
	return mu_sys_ptrace(what, stop->tracee->tid, address, data);
}

static enum mu_remote_event
which_event(struct mu_remote_stop *stop)
{
	unsigned long message = 0;

	if (stop->status == SYSCALL_STOP) {
		if (request(stop, MU_GET_SYSCALL_INFO, sizeof(stop->info),
			(uintptr_t)&stop->info) < 0)
			return MU_REMOTE_GONE;
		return stop->info.op == MU_SYSCALL_ENTRY ? MU_REMOTE_ENTERED
							 : MU_REMOTE_LEFT;
	}
	if (stop->status >> 8 == MU_REMOTE_EVENT_STOP)
		return MU_REMOTE_TRAPPED;
	if (stop->status >> 8 == 0)
		return MU_REMOTE_DELIVERY;
	if (stop->status >> 8 == PTRACE_EVENT_EXEC)
		return MU_REMOTE_EXECED;
	request(stop, PTRACE_GETEVENTMSG, 0, (uintptr_t)&message);
	stop->born = (pid_t)message;
	return MU_REMOTE_STARTED;
}

/*
 * Check whether the thread has stopped or ended, as mu_tracee_look() does:
 * without WEXITED, which would wait for a leader's threads; with WNOWAIT, to
 * keep its signal.
 */
static bool
look(struct mu_remote_stop *stop)
{
	siginfo_t info = { .si_pid = 0 };
	long error = mu_syscall6(SYS_waitid, P_PID, stop->tracee->tid,
	    (long)&info, WSTOPPED | WNOHANG | WNOWAIT | MU_WALL, 0, 0);

	if (error == 0 && info.si_pid == 0)
		return false;
	stop->status = info.si_status;
	stop->event = error == 0 ? which_event(stop) : MU_REMOTE_GONE;
	if (stop->event == MU_REMOTE_GONE && error == 0)
		return false; /* killed just now */
	/*
	 * A tracer must reap threads other than the leader; the leader has a
	 * parent.
	 */
	if (stop->event == MU_REMOTE_GONE &&
	    stop->tracee->tid != stop->threads->pid)
		mu_sys_wait(stop->tracee->tid, NULL, WNOHANG | MU_WALL);
	return true;
}

/*
 * execve() by another thread gives the leader's tid to that thread, which we do
 * not trace. If it is our child, waitid() would then wait for it for ever.
 */
static bool
is_traced(const struct mu_remote_stop *stop)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(stop->threads->pid, stop->tracee->tid,
		   status, sizeof(status)) > 0 &&
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) > 0;
}

/*
 * The stop has lasted too long: release the other threads. The call may wait
 * for one of them, as a fork waits for the monitor of a userfaultfd.
 */
static void
go_late(struct mu_remote_stop *stop, uint64_t now)
{
	struct mu_threads *threads = stop->threads;
	size_t i;

	if (!stop->late)
		request(stop, PTRACE_INTERRUPT, 0, 0);
	stop->late = true;
	if (now - stop->deadline_ns < threads->hold_ns)
		return;
	stop->alone = true;
	for (i = 0; i < threads->count; i++)
		if (&threads->tracees[i] != stop->tracee &&
		    mu_tracee_stopped(&threads->tracees[i]))
			mu_tracee_detach(&threads->tracees[i]);
}

void
mu_remote_stop_await(struct mu_remote_stop *stop)
{
	uint64_t now = mu_sys_now_ns(), check_ns = now + SLICE_NS;

	stop->wakeup->slow = false;
	for (; !look(stop); now = mu_sys_now_ns()) {
		if (!stop->alone && now >= stop->deadline_ns)
			go_late(stop, now);
		if (now >= check_ns && !is_traced(stop)) {
			stop->event = MU_REMOTE_GONE;
			return;
		}
		if (now >= check_ns)
			check_ns = now + SLICE_NS;
		/* The thread copies the process, or waits for a CPU. */
		mu_wakeup_await(stop->wakeup, stop->tracee->tid, check_ns);
	}
}

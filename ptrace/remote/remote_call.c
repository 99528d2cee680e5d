/*
 * The thread is in PTRACE_EVENT_STOP, inside get_signal() in the kernel, on its
 * way back to user code. If it was interrupted in a system call, the result of
 * that call is one of the ERESTART codes. Only after get_signal() does the
 * kernel decide, by the registers as they are then, whether and how to restart
 * the call (arch_do_signal_or_restart in arch/x86/kernel/signal.c). With
 * orig_rax -1 it restarts nothing, and the thread makes our call. After that,
 * with its old registers, the thread must pass get_signal() once more, or the
 * program would see error 512. At the exit stop of our call it is past
 * get_signal(). A PTRACE_INTERRUPT sends it there again (TIF_SIGPENDING,
 * JOBCTL_TRAP_STOP); get_signal() traps before it dequeues any signal and
 * before a single instruction is run.
 *
 * PTRACE_SINGLESTEP is no alternative: it ends in force_sig(SIGTRAP), which
 * resets a blocked or ignored SIGTRAP to SIG_DFL for the whole program.
 *
 * The record of what to restart (restart_block) belongs to the thread, and
 * calls like clone() and wait4() do not change it.
 *
 * Runs in: keeper, collector, the command.
 */
#include "ptrace/remote/remote_call.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "mu/arch/registers.h"
#include "mu/arch/remote.h"
#include "mu/arch/seccomp.h"
#include "mu/sys.h"
#include "ptrace/live/wakeup.h"
#include "ptrace/remote/remote_stop.h"

#define NOTE_PRSTATUS 1
#define GETSIGMASK 0x420a /* PTRACE_GETSIGMASK, Linux 3.11 */
#define SETSIGMASK 0x420b

/* include/linux/errno.h: internal to the kernel, but visible to a tracer. */
#define RESTART_FIRST 512 /* ERESTARTSYS, then ..NOINTR and ..NOHAND */
#define RESTART_LAST 516  /* ERESTART_RESTARTBLOCK */

#define BIT(signo) ((mu_sigmask)1 << ((signo)-1))

/*
 * A fault in the instruction forces one of these signals. If it were blocked,
 * its action would become SIG_DFL for the whole program
 * (force_sig_info_to_task).
 */
#define FORCED                                                    \
	(BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) | \
	    BIT(SIGSEGV) | BIT(SIGSYS))

struct run {
	struct mu_remote_call *call;
	struct mu_remote_thread *thread;
	struct mu_why *why;
	struct mu_remote_stop stop; /* its latest stop */
	mu_sigmask mask;            /* the thread's own */
	long nr;                    /* the call expected at the next entry */
	bool entered;               /* it is in our call */
};

#define EXITKILL (1 << 20) /* PTRACE_O_EXITKILL, Linux 3.8 */

static long
request(const struct run *run, long what, uintptr_t address, uintptr_t data)
{
	return mu_sys_ptrace(what, run->thread->tracee->tid, address, data);
}

static long
set_registers(const struct run *run, uintptr_t *general)
{
	struct iovec set = { general, MU_PRSTATUS_WORDS * sizeof(*general) };

	return request(run, PTRACE_SETREGSET, NOTE_PRSTATUS, (uintptr_t)&set);
}

static long
set_mask(const struct run *run, mu_sigmask mask)
{
	return request(run, SETSIGMASK, sizeof(mask), (uintptr_t)&mask);
}

static enum mu_status
failed(const struct run *run, long error)
{
	return mu_why(run->why, mu_status_from_errno((int)-error),
	    "thread %d cannot be made to do a system call (errno %ld)",
	    run->thread->tracee->tid, -error);
}

static enum mu_status
gone(struct run *run)
{
	run->stop.event = MU_REMOTE_GONE;
	return mu_why(run->why, MU_ERR_TARGET_GONE,
	    "thread %d was killed while it was stopped",
	    run->thread->tracee->tid);
}

static enum mu_status
became_another(const struct run *run)
{
	return mu_why(run->why, MU_ERR_TARGET_GONE,
	    "process %d became another program while it was stopped",
	    run->thread->threads->pid);
}

static enum mu_status
diverted(const struct run *run)
{
	return mu_why(run->why, MU_ERR_BUSY,
	    "thread %d made another system call than ours, and was kept from"
	    " it" MU_CURE "does another process write to its code?",
	    run->thread->tracee->tid);
}

static enum mu_status
too_late(const struct run *run)
{
	return mu_why(run->why, MU_ERR_TIMEOUT,
	    "a system call in thread %d took too long" MU_CURE
	    "give it more time",
	    run->thread->tracee->tid);
}

static enum mu_status
came_between(const struct run *run)
{
	return mu_why(run->why, MU_ERR_BUSY,
	    "signal %d came in between while thread %d did a system call for"
	    " us" MU_CURE "ask again",
	    run->stop.status & 0x7f, run->thread->tracee->tid);
}

/*
 * If we are killed here, the thread restores its registers and mask from its
 * stack.
 */
static long
lead_back(const struct run *run)
{
	uintptr_t general[MU_PRSTATUS_WORDS];

	memcpy(general, run->thread->general, sizeof(general));
	mu_remote_return_set_now(run->thread, general);
	return set_registers(run, general);
}

/*
 * Make the changes that restore() undoes. If we are killed at any step the
 * thread restores itself; for that it must have our registers before its mask
 * changes. Returns 0 or -errno.
 */
static long
prepare(struct run *run)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
	    PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC;
	uintptr_t general[MU_PRSTATUS_WORDS];
	long error = mu_remote_return_open(run->thread);

	/*
	 * In a sigsuspend() this is the mask to be restored (Linux 5.3).
	 * Success also shows that the thread is still in its stop, after the
	 * file was opened.
	 */
	if (error == 0)
		error = request(
		    run, GETSIGMASK, sizeof(run->mask), (uintptr_t)&run->mask);
	if (error == 0)
		error = mu_remote_return_write(run->thread, run->mask);
	if (error == 0)
		error = request(run, PTRACE_SETOPTIONS, 0,
		    (uintptr_t)(options | (run->thread->options & EXITKILL)));
	if (error == 0)
		error = lead_back(run);
	if (error == 0)
		error = set_mask(run, run->mask | ~FORCED);
	memcpy(general, run->thread->general, sizeof(general));
	mu_arch_remote_prepare(
	    general, run->thread->code.at.call, run->call->nr, run->call->args);
	mu_remote_return_set_after(
	    run->thread, run->call->nr == SYS_clone, general);
	return error == 0 ? set_registers(run, general) : error;
}

static bool
wants_restart(long result)
{
	return result <= -RESTART_FIRST && result >= -RESTART_LAST;
}

static long
set_no_call(const struct run *run)
{
	int none = -1;
	struct iovec set = { &none, sizeof(none) };

	if (MU_REMOTE_NOTE_CALL == 0)
		return 0;
	return request(
	    run, PTRACE_SETREGSET, MU_REMOTE_NOTE_CALL, (uintptr_t)&set);
}

/* At the entry of a call: make the kernel skip it. Returns 0 or -errno. */
static long
cancel(const struct run *run)
{
	uintptr_t general[MU_PRSTATUS_WORDS];
	struct iovec set = { general, sizeof(general) };
	long error;

	error = request(run, PTRACE_GETREGSET, NOTE_PRSTATUS, (uintptr_t)&set);
	mu_arch_remote_cancel(general);
	if (error == 0)
		error = set_registers(run, general);
	return error == 0 ? set_no_call(run) : error;
}

/* True if the instruction pointer is right after our instruction. */
static bool
is_at_ours(const struct run *run)
{
	return run->stop.info.ip ==
	    run->thread->code.at.call + MU_CALL_CODE_SIZE;
}

/* A call that has begun may not be interruptible, as a fork is not. */
static bool
has_time(const struct run *run)
{
	return mu_sys_now_ns() + run->call->least_ns < run->stop.deadline_ns;
}

/*
 * Check the call that the thread is about to make. The code at the instruction
 * may have been rewritten since it was found, by a process that shares the
 * memory or through /proc/PID/mem. Then the call is the program's own, but made
 * under our tracing; it is skipped and fails with -ENOSYS.
 */
static enum mu_status
enter(struct run *run)
{
	const struct mu_syscall_info *info = &run->stop.info;
	long error;
	size_t i;

	run->entered = is_at_ours(run) && info->arch == MU_AUDIT_ARCH &&
	    info->entry.nr == (uint64_t)run->nr;
	for (i = 0; i < 6; i++)
		run->entered &= info->entry.args[i] == run->call->args[i];
	run->stop.late |= run->entered && !has_time(run);
	if (run->entered && !run->stop.late) {
		/*
		 * The instruction works. A copy inherits this mask:
		 * process_copy.c.
		 */
		set_mask(run, ~(mu_sigmask)0);
		return MU_OK;
	}
	error = cancel(run);
	return error == 0 ? MU_OK : failed(run, error);
}

/* Handle the exit of our call. MU_PARTIAL: the kernel wants to restart it. */
static enum mu_status
leave(struct run *run)
{
	long result = run->stop.info.exit.result;

	if (!run->entered || !is_at_ours(run))
		return diverted(run);
	run->call->result = result;
	if (run->stop.late)
		return too_late(run);
	if (!wants_restart(result))
		return MU_OK;
	run->entered = false;
	if (result == -RESTART_LAST)
		run->nr = SYS_restart_syscall;
	return MU_PARTIAL;
}

/*
 * Go from stop to stop until the call is made. SIGSTOP cannot be blocked: it is
 * passed on, and the thread leaves the group stop that follows at once; at the
 * detach the kernel stops it again (__ptrace_unlink in kernel/ptrace.c). If
 * SIGSTOP interrupted our call, the call is restarted.
 */
static enum mu_status
drive(struct run *run)
{
	enum mu_status status;
	uintptr_t signo = 0;
	long error;

	for (;;) {
		error = request(run, PTRACE_SYSCALL, 0, signo);
		if (error < 0 && error != -ESRCH)
			return failed(run, error);
		mu_remote_stop_await(&run->stop);
		signo = 0;
		switch (run->stop.event) {
		case MU_REMOTE_GONE:
			return gone(run);
		case MU_REMOTE_EXECED:
			return became_another(run);
		case MU_REMOTE_ENTERED:
			status = enter(run);
			if (status != MU_OK)
				return status;
			break;
		case MU_REMOTE_STARTED:
			if (run->call->note != NULL)
				*run->call->note = run->stop.born;
			break;
		case MU_REMOTE_LEFT:
			status = leave(run);
			if (status != MU_PARTIAL)
				return status;
			break;
		case MU_REMOTE_TRAPPED:
			if (run->stop.late)
				return too_late(run);
			break;
		case MU_REMOTE_DELIVERY:
			if (run->stop.late)
				return too_late(run);
			signo = (uintptr_t)(run->stop.status & 0x7f);
			if (signo != SIGSTOP)
				return came_between(run);
			break;
		}
	}
}

/* Record the stop in which the thread is left, for the release. */
static void
note_stop(struct run *run)
{
	struct mu_tracee *tracee = run->thread->tracee;
	siginfo_t info = { .si_code = 0 };

	mu_tracee_classify(tracee, run->stop.status);
	if (run->stop.event == MU_REMOTE_DELIVERY) {
		request(run, PTRACE_GETSIGINFO, 0, (uintptr_t)&info);
		/*
		 * The kernel sent it for a fault, which our instruction caused.
		 */
		if (info.si_code > 0 && (BIT(tracee->signal) & FORCED) != 0)
			tracee->signal = 0;
	} else if (tracee->tid == run->thread->threads->pid) {
		/* The state that mu_tracee_confirm() expects. */
		mu_syscall6(SYS_waitid, P_PID, tracee->tid, (long)&info,
		    WSTOPPED | WNOHANG | MU_WALL, 0, 0);
	}
}

/*
 * Restore the thread from any stop except the entry of a call. If the process
 * has executed another program, nothing is written: that has other registers,
 * another mask and perhaps other rights.
 */
static void
restore(struct run *run)
{
	run->stop.deadline_ns = UINT64_MAX; /* restoring has no deadline */
	/*
	 * This comes first: it makes the thread pass get_signal() even if we
	 * are killed here, so that its interrupted call is restarted.
	 */
	if (run->stop.event == MU_REMOTE_LEFT)
		request(run, PTRACE_INTERRUPT, 0, 0);
	if (run->stop.event != MU_REMOTE_GONE &&
	    run->stop.event != MU_REMOTE_EXECED) {
		if (run->stop.event == MU_REMOTE_LEFT)
			set_no_call(run);
		lead_back(run);
		set_mask(run, run->mask);
		set_registers(run, run->thread->general);
		request(
		    run, PTRACE_SETOPTIONS, 0, (uintptr_t)run->thread->options);
	}
	if (run->stop.event == MU_REMOTE_LEFT) {
		request(run, PTRACE_CONT, 0, 0);
		mu_remote_stop_await(&run->stop);
	}
	if (run->stop.event == MU_REMOTE_GONE)
		run->thread->tracee->state = MU_TRACEE_GONE;
	else
		note_stop(run);
	/*
	 * The first thread runs again and may use the part of the stack with
	 * the frames.
	 */
	if (run->stop.alone && run->thread->way.foreign)
		run->thread->way.written = 0;
	mu_remote_return_remove(
	    run->thread, run->call->answer, run->call->answer_bytes);
}

/* The status as waitid() gave it when the thread was stopped. */
static int
status_of(const struct mu_tracee *tracee)
{
	return MU_REMOTE_EVENT_STOP << 8 |
	    (tracee->state == MU_TRACEE_GROUP_STOPPED ? SIGSTOP : SIGTRAP);
}

static enum mu_status
run_call(struct run *run)
{
	struct mu_wakeup wakeup;
	enum mu_status status;
	long error;

	mu_wakeup_open(&wakeup, run->thread->threads->lender);
	run->stop.wakeup = &wakeup;
	error = prepare(run);
	if (error == 0)
		status = drive(run);
	else if (error == -ESRCH)
		status = gone(run);
	else
		status = failed(run, error);
	restore(run);
	/*
	 * The end of the call has not been waited for; the release does that.
	 */
	if (error == -ESRCH)
		run->thread->tracee->state = MU_TRACEE_SEIZED;
	mu_wakeup_close(&wakeup);
	run->stop.wakeup = NULL;
	return status;
}

enum mu_status
mu_remote_call_make(struct mu_remote_call *call,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why)
{
	struct run run = {
		.call = call,
		.thread = thread,
		.why = why,
		.nr = call->nr,
		.stop = {
			.threads = thread->threads,
			.tracee = thread->tracee,
			.deadline_ns = deadline_ns,
			.event = MU_REMOTE_TRAPPED,
			.status = status_of(thread->tracee),
		},
	};
	enum mu_status status;

	call->result = -ECANCELED;
	status =
	    mu_sys_now_ns() < deadline_ns ? run_call(&run) : too_late(&run);
	call->born = run.stop.born;
	return status;
}

#include "ptrace/live/signal_stop_await.h"

#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/signal_stop_choice.h"
#include "ptrace/live/signal_stop_handler.h"
#include "ptrace/live/signal_threads_rows.h"

/* How long to wait before reading /proc to find the missing threads. */
#define FIRST_SLICE_NS (2 * 1000 * 1000ull)
#define LONGEST_SLICE_NS (128 * 1000 * 1000ull)

/*
 * The signal carries the address of the thread's record. A filter that does not
 * allow rt_tgsigqueueinfo() may allow tgkill(); but glibc's own handlers act on
 * that.
 */
long
mu_signal_stop_send(
    const struct mu_signal_stop *stop, struct mu_signal_thread *thread)
{
	siginfo_t info = { 0 };
	long error;

	info.si_signo = stop->signo;
	info.si_code = SI_QUEUE;
	info.si_pid = stop->pid;
	info.si_uid = (uid_t)mu_sys0(SYS_getuid);
	info.si_value.sival_ptr = thread;
	error = mu_sys4(SYS_rt_tgsigqueueinfo, stop->pid, thread->tid,
	    stop->signo, (long)&info);
	if ((error == -EPERM || error == -ENOSYS) &&
	    stop->signo < MU_SIGNAL_STOP_GLIBC)
		error =
		    mu_sys3(SYS_tgkill, stop->pid, thread->tid, stop->signo);
	return error;
}

/*
 * Check the threads that have not arrived. Those that have ended are dropped.
 * If the signal is not pending for a thread, another handler took it: send it
 * once more. Without PATIENCE, a thread that blocks the signal is an error: a
 * thread may have been started with it blocked.
 */
static enum mu_status
ask_for_missing(struct mu_signal_stop *stop, bool patience, struct mu_why *why)
{
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	struct mu_signal_thread *thread;

	while ((thread = mu_signal_thread_next(&at)) != NULL) {
		if (mu_signal_thread_state(thread) != MU_SIGNAL_THREAD_WANTED)
			continue;
		switch (mu_signal_stop_fate(stop, thread->tid)) {
		case MU_SIGNAL_STOP_ENDED:
			mu_signal_thread_give_up(stop, thread);
			break;
		case MU_SIGNAL_STOP_LOST:
			stop->pending = true; /* one too many? */
			mu_signal_stop_send(stop, thread);
			break;
		case MU_SIGNAL_STOP_TAKEN:
			return mu_why(why, MU_ERR_SIGNALS_BLOCKED,
			    "the program has set its own handler for signal"
			    " %d since",
			    stop->signo);
		case MU_SIGNAL_STOP_BLOCKED:
			if (!patience)
				return mu_why(why, MU_ERR_SIGNALS_BLOCKED,
				    "thread %d blocks signal %d, which others"
				    " were stopped by",
				    thread->tid, stop->signo);
			break;
		case MU_SIGNAL_STOP_COMING:
			break;
		}
	}
	return MU_OK;
}

static enum mu_status
timed_out(const struct mu_signal_stop *stop, struct mu_why *why)
{
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	struct mu_signal_thread *thread;
	pid_t tid = 0;
	int state;

	while ((thread = mu_signal_thread_next(&at)) != NULL)
		if (mu_signal_thread_state(thread) == MU_SIGNAL_THREAD_WANTED)
			tid = thread->tid;
	state = mu_proc_state(stop->pid, tid);
	return mu_why(why, MU_ERR_TIMEOUT,
	    "thread %d did not come to its handler of signal %d in time"
	    " (state %c)" MU_CURE "let it stand still for longer (option"
	    " max_pause)",
	    tid, stop->signo, state < 0 ? '?' : state);
}

/*
 * The last thread to arrive wakes us. Returns false if not all have arrived by
 * UNTIL_NS.
 */
static bool
wait_until(struct mu_signal_stop *stop, uint64_t until_ns)
{
	int missing;

	while (
	    (missing = __atomic_load_n(&stop->missing, __ATOMIC_ACQUIRE)) > 0) {
		if (mu_sys_now_ns() >= until_ns)
			return false;
		mu_sys_futex_wait(
		    &stop->missing, missing, FUTEX_PRIVATE_FLAG, until_ns);
	}
	return true;
}

enum mu_status
mu_signal_stop_await(
    struct mu_signal_stop *stop, uint64_t stop_ns, struct mu_why *why)
{
	uint64_t slice = FIRST_SLICE_NS, now, left;
	enum mu_status status = MU_OK;

	while (status == MU_OK) {
		now = mu_sys_now_ns();
		if (now >= stop_ns)
			return timed_out(stop, why);
		left = stop_ns - now;
		if (wait_until(stop, now + (slice < left ? slice : left)))
			return MU_OK;
		status =
		    ask_for_missing(stop, slice < LONGEST_SLICE_NS / 2, why);
		if (slice < LONGEST_SLICE_NS)
			slice *= 2;
	}
	return status;
}

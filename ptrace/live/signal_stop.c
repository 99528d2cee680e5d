/*
 * Each round sends the signal to every listed thread that has not got it yet,
 * then waits for all of them. Rounds end when a listing shows no new thread: a
 * thread in the handler starts none.
 */
#include "ptrace/live/signal_stop.h"

#include "mu/status.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/signal_stop_choice.h"
#include "ptrace/live/signal_stop_handler.h"
#include "ptrace/live/signal_threads.h"
#include "ptrace/live/signal_threads_rows.h"
#include "ptrace/live/task_list.h"

/* How long threads may take to leave the handler. */
#define LEAVE_NS (10 * MU_NS_PER_SEC)

#define MAX_TRIES 3

struct signal_round {
	struct mu_signal_stop *stop;
	uint64_t stop_ns;
	bool listed; /* stop->listing has been used */
	struct mu_why *why;
	bool fresh; /* the signal was sent to a new thread */
};

/* How long to wait before reading /proc to find the missing threads. */
#define FIRST_SLICE_NS (2 * 1000 * 1000ull)
#define LONGEST_SLICE_NS (128 * 1000 * 1000ull)

/*
 * Send threads the signal, and wait until they are in the handler.
 */

/* Send the signal to THREAD, a record of STOP. Returns 0 or -errno. */
/*
 * The signal carries the address of the thread's record. A filter that does not
 * allow rt_tgsigqueueinfo() may allow tgkill(); but glibc's own handlers act on
 * that.
 */
static long
signal_stop_send(
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
			signal_stop_send(stop, thread);
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
	    " (state %c)" MU_CURE "allow a longer stop (option"
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

/*
 * Wait until all threads have arrived or ended. MU_ERR_TIMEOUT: STOP_NS has
 * passed. MU_ERR_SIGNALS_BLOCKED: a thread seems to block the signal
 * permanently.
 */
static enum mu_status
signal_stop_await(
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

static enum mu_status
call_thread(struct signal_round *round, struct mu_signal_thread *thread)
{
	struct mu_signal_stop *stop = round->stop;
	long error;

	if (stop->begin_ns == 0)
		stop->begin_ns = mu_sys_now_ns();
	__atomic_add_fetch(&stop->missing, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(
	    &thread->state, MU_SIGNAL_THREAD_WANTED, __ATOMIC_RELEASE);
	error = signal_stop_send(stop, thread);
	if (error == 0) {
		round->fresh = true;
		return MU_OK;
	}
	mu_signal_thread_give_up(stop, thread);
	if (error == -ESRCH)
		return MU_OK;
	return mu_why(round->why, mu_status_from_errno((int)-error),
	    "cannot send signal %d to thread %d (error %ld)", stop->signo,
	    thread->tid, -error);
}

/*
 * The kernel reuses thread ids. A leader that has ended stays listed, and a
 * signal sent to it would stay pending.
 */
static bool
is_called_already(const struct mu_signal_stop *stop,
    const struct mu_signal_thread *thread, pid_t tid)
{
	if (thread != NULL && thread->state != MU_SIGNAL_THREAD_GONE)
		return true;
	return (thread != NULL || tid == stop->pid) &&
	    mu_proc_ended(mu_proc_state(stop->pid, tid));
}

static enum mu_status
call_listed(struct signal_round *round)
{
	struct mu_signal_stop *stop = round->stop;
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	bool first = stop->count == 0;
	enum mu_status status = MU_OK;
	struct mu_signal_thread *thread;
	size_t i;
	pid_t tid;

	for (i = 0; i < stop->listing.count && status == MU_OK; i++) {
		tid = stop->listing.tids[i];
		if (tid == stop->except)
			continue;
		thread = first ? NULL : mu_signal_thread_find(stop, &at, tid);
		if (is_called_already(stop, thread, tid))
			continue;
		if (thread == NULL)
			thread = mu_signal_thread_add(stop, tid);
		if (thread == NULL)
			return mu_why(round->why, MU_ERR_NO_MEMORY,
			    "no memory for %zu threads", stop->count + 1);
		status = call_thread(round, thread);
	}
	return status;
}

/*
 * Compare with the kernel's count of threads: one call instead of a listing,
 * which takes 0.6 ms for 1024 threads. If the count includes an ended thread,
 * the listing decides.
 */
static bool
is_everybody_here(const struct mu_signal_stop *stop)
{
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	const struct mu_signal_thread *thread;
	long here = 1; /* this thread */

	while ((thread = mu_signal_thread_next(&at)) != NULL)
		here += mu_signal_thread_state(thread) == MU_SIGNAL_THREAD_HERE;
	return here == mu_task_count(stop->pid);
}

/* Choose a signal that was free when we looked, or is free now. */
static enum mu_status
choose(struct signal_round *round)
{
	struct mu_signal_stop *stop = round->stop;
	enum mu_status status = MU_OK;

	if (stop->seen == 0)
		status = mu_signal_stop_look(stop, round->why);
	if (status == MU_OK && stop->seen != 0)
		status = mu_signal_stop_choose(stop, round->why);
	return status;
}

static enum mu_status
run_round(struct signal_round *round)
{
	struct mu_signal_stop *stop = round->stop;
	enum mu_status status = MU_OK;

	round->fresh = round->listed;
	stop->rescans++;
	if (is_everybody_here(stop)) {
		round->fresh = false;
		return MU_OK;
	}
	/*
	 * If the thread has ended and its tid belongs to another process, the
	 * kernel does not send the signal.
	 */
	if (!round->listed)
		status =
		    mu_task_list_read(&stop->listing, stop->pid, round->why);
	round->listed = false;
	if (status == MU_OK && stop->signo == 0)
		status = choose(round);
	if (status != MU_OK)
		return status;
	status = call_listed(round);
	if (status == MU_OK)
		status = signal_stop_await(stop, round->stop_ns, round->why);
	return status;
}

static enum mu_status
try_once(struct signal_round *round)
{
	struct mu_signal_stop *stop = round->stop;
	enum mu_status status = MU_OK;

	round->fresh = true;
	stop->open = true;
	mu_signal_stop_open(stop);
	while (status == MU_OK && round->fresh) {
		if (mu_sys_now_ns() >= round->stop_ns)
			status = mu_why(round->why, MU_ERR_TIMEOUT,
			    "process %d still had new threads after %zu"
			    " listings" MU_CURE "allow a longer stop (option"
			    " max_pause)",
			    stop->pid, stop->rescans);
		else
			status = run_round(round);
	}
	/*
	 * All other threads are stopped, so none of them can set a handler now.
	 */
	if (stop->signo > 0)
		mu_signal_stop_uninstall(
		    stop->signo, stop->pending || status != MU_OK);
	if (status != MU_OK)
		mu_signal_stop_release(stop);
	return status;
}

enum mu_status
mu_signal_stop_prepare(struct mu_signal_stop *stop, pid_t pid, pid_t except,
    struct mu_arena *arena, struct mu_why *why)
{
	enum mu_status status;

	*stop = (struct mu_signal_stop) {
		.pid = pid,
		.except = except,
		.listing = { .arena = arena },
		.arena = arena,
	};
	/* CPUID, 30 times; a virtual machine traps each: 0.1 ms. */
	mu_frame_layout_read(&stop->layout);
	status = mu_task_list_read(&stop->listing, pid, why);
	return status == MU_OK ? mu_signal_stop_look(stop, why) : status;
}

enum mu_status
mu_signal_stop_run(struct mu_signal_stop *stop, uint64_t stop_ns,
    uint64_t leave_ns, struct mu_why *why)
{
	struct signal_round round = {
		.stop = stop,
		.stop_ns = stop_ns,
		.listed = true,
		.why = why,
	};
	mu_sigmask seen = stop->seen;
	enum mu_status status;
	unsigned tries = 0;
	bool blocked;

	do {
		*stop = (struct mu_signal_stop) {
			.pid = stop->pid,
			.except = stop->except,
			.arena = stop->arena,
			.leave_ns = leave_ns,
			.begin_ns = stop->begin_ns,
			.rescans = stop->rescans,
			.stuck = stop->stuck,
			.seen = tries == 0 ? seen : 0,
			.listing = stop->listing,
			.layout = stop->layout,
		};
		status = try_once(&round);
		/* The signal was free when it was chosen: choose again. */
		blocked = status == MU_ERR_SIGNALS_BLOCKED && stop->signo > 0;
	} while (blocked && !stop->stuck && ++tries < MAX_TRIES);
	return status;
}

bool
mu_signal_stop_is_full(const struct mu_signal_stop *stop)
{
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	const struct mu_signal_thread *thread;
	int state;

	while ((thread = mu_signal_thread_next(&at)) != NULL) {
		state = mu_signal_thread_state(thread);
		if (state != MU_SIGNAL_THREAD_HERE &&
		    state != MU_SIGNAL_THREAD_GONE)
			return false;
	}
	return true;
}

bool
mu_signal_stop_release(struct mu_signal_stop *stop)
{
	if (stop->open) {
		mu_sys_futex_set(&stop->gate, 1, INT32_MAX, FUTEX_PRIVATE_FLAG);
		stop->end_ns = mu_sys_now_ns();
		if (!mu_signal_stop_close(mu_sys_now_ns() + LEAVE_NS))
			stop->stuck = true;
	}
	stop->open = false;
	return !stop->stuck;
}

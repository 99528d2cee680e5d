#include "ptrace/live/signal_stop_choice.h"

#include <string.h>

#include "ptrace/live/proc.h"
#include "ptrace/live/signal_stop_handler.h"

/*
 * pthread_create(), fork() and other functions of glibc block all signals for a
 * moment, including glibc's own, which other code cannot block through libc. On
 * a busy machine such a thread may not run for a while.
 */
#define LOOKS 60
#define LOOK_NS (5 * 1000 * 1000ull)

#define DROPPED (mu_signal_bit(SIGURG) | mu_signal_bit(SIGWINCH))

/* Why a signal does not reach the handler. */
struct signal_state {
	mu_sigmask blocked, pending, awaited;
	mu_sigmask shared; /* pending for the process */
	bool sleeps;
};

/* "SigBlk:\t0000000000010000" after KEY. */
static mu_sigmask
take_mask(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	uint64_t mask = 0;

	if (at != NULL) {
		at += strlen(key);
		mu_proc_number(&at, at + strlen(at), 16, &mask);
	}
	return mask;
}

/* False: the thread has ended. */
static bool
read_state(pid_t pid, pid_t tid, struct signal_state *state)
{
	char status[MU_PROC_STATUS_SIZE];

	if (mu_proc_status_read(pid, tid, status, sizeof(status)) < 0 ||
	    strstr(status, "\nState:\tZ") != NULL ||
	    strstr(status, "\nState:\tX") != NULL)
		return false;
	*state = (struct signal_state) {
		.blocked = take_mask(status, "\nSigBlk:\t"),
		.pending = take_mask(status, "\nSigPnd:\t"),
		.shared = take_mask(status, "\nShdPnd:\t"),
		.sleeps = strstr(status, "\nState:\tS") != NULL,
	};
	return true;
}

/*
 * sigwait() unblocks the signals it waits for in the kernel, so the mask does
 * not show them: do_sigtimedwait(). libc never lets a program wait for 33, and
 * for 32 only the thread that starts those of SIGEV_THREAD
 * (timer_helper_thread()). Nothing is known if the file is missing or cannot be
 * read, as after setuid().
 */
static mu_sigmask
read_awaited(pid_t pid, pid_t tid)
{
	return mu_proc_call(pid, tid) == SYS_rt_sigtimedwait
	    ? ~mu_signal_bit(33)
	    : 0;
}

static mu_sigmask
usable(void)
{
	mu_sigmask mask = 0;
	int i;

	for (i = 0; i < MU_SIGNAL_STOP_SIGNALS; i++)
		if (!mu_signal_stop_is_handled(mu_signal_stop_signals[i]))
			mask |= mu_signal_bit(mu_signal_stop_signals[i]);
	return mask;
}

/*
 * The signals of MASK that can be sent to thread TID. A pending one was sent by
 * other code, which needs it; restoring the default action would drop it, if
 * that is to ignore the signal.
 */
static mu_sigmask
let_through(pid_t pid, pid_t tid, mu_sigmask mask)
{
	struct signal_state state;
	mu_sigmask left;
	int look;

	for (look = 0; look < LOOKS; look++) {
		if (!read_state(pid, tid, &state))
			return mask;
		left = mask & ~state.blocked &
		    ~((state.pending | state.shared) & DROPPED);
		if (left != 0 && state.sleeps)
			left &= ~read_awaited(pid, tid);
		if (left != 0)
			return left;
		mu_sys_sleep_ns(LOOK_NS);
	}
	return 0;
}

enum mu_status
mu_signal_stop_look(struct mu_signal_stop *stop, struct mu_why *why)
{
	const struct mu_task_list *listing = &stop->listing;
	mu_sigmask mask = usable();
	size_t i, others = 0;
	pid_t tid;

	for (i = 0; i < listing->count; i++) {
		tid = listing->tids[i];
		if (tid == stop->except)
			continue;
		others++;
		mask = let_through(stop->pid, tid, mask);
		if (mask == 0)
			return mu_why(why, MU_ERR_SIGNALS_BLOCKED,
			    "thread %d blocks every signal that could stop it"
			    " (of SIGURG, SIGWINCH, 33, 32 those that the"
			    " program does not handle)",
			    tid);
	}
	stop->seen = others == 0 ? 0 : mask;
	return MU_OK;
}

/*
 * Choose the first signal for which the program does not install a handler
 * before we do.
 */
enum mu_status
mu_signal_stop_choose(struct mu_signal_stop *stop, struct mu_why *why)
{
	long error = -EBUSY;
	int i, signo = 0;

	for (i = 0; i < MU_SIGNAL_STOP_SIGNALS && error == -EBUSY; i++) {
		signo = mu_signal_stop_signals[i];
		if ((stop->seen & mu_signal_bit(signo)) != 0 &&
		    !mu_signal_stop_is_handled(signo))
			error = mu_signal_stop_install(signo);
	}
	if (error < 0)
		return mu_why(why, mu_status_from_errno((int)-error),
		    "cannot install a handler for signal %d (error %ld)", signo,
		    -error);
	stop->signo = signo;
	return MU_OK;
}

enum mu_signal_stop_fate
mu_signal_stop_fate(const struct mu_signal_stop *stop, pid_t tid)
{
	mu_sigmask bit = mu_signal_bit(stop->signo);
	struct signal_state state;

	if (!read_state(stop->pid, tid, &state))
		return MU_SIGNAL_STOP_ENDED;
	if (((state.blocked | state.pending) & bit) == 0)
		return mu_signal_stop_is_installed(stop->signo)
		    ? MU_SIGNAL_STOP_LOST
		    : MU_SIGNAL_STOP_TAKEN;
	if (state.blocked & state.pending & bit)
		return MU_SIGNAL_STOP_BLOCKED;
	return MU_SIGNAL_STOP_COMING;
}

/*
 * The handler that threads are parked in: see parking_handler.h.
 *
 * It runs on the alternate stack if the thread has one (the rest of a
 * coroutine's stack may be small) with every signal blocked. It uses no TLS: a
 * task that was started by a raw clone() may have none.
 */
#include "ptrace/parking_handler.h"

#include <string.h>

/*
 * SIGURG is what Go interrupts its threads with: debuggers pass it on without
 * a word, and by default it is ignored, so that a stray one does no harm. The
 * same is true of SIGWINCH. 33 and 32 are glibc's own, for setuid() and
 * pthread_cancel(): pthread_sigmask() never blocks them, and their handlers
 * ignore what was not sent by tgkill(), which ours is not.
 */
const int mu_parking_signals[MU_PARKING_SIGNALS] = { SIGURG, SIGWINCH, 33, 32 };

/* What a signal handler must reach. */
static struct {
	pid_t pid;                  /* a forked child starts anew */
	struct mu_parking *current; /* NULL: nobody parks now */
	int inside;                 /* futex: handlers that still use it */
	int owed; /* a signal that would have killed came meanwhile */
	struct mu_signal_action earlier[MU_PARKING_SIGNALS];
} lot;

static int
index_of(int signo)
{
	int i;

	for (i = 0; i < MU_PARKING_SIGNALS - 1; i++)
		if (mu_parking_signals[i] == signo)
			break;
	return i;
}

/*
 * By the cookie; or by the thread's id, if the queue was full and the kernel
 * dropped the cookie, or another's signal came first and took the one place
 * that a standard signal has.
 */
static struct mu_parked *
find_thread(const struct mu_parking *parking, const siginfo_t *info, pid_t tid)
{
	struct mu_parked *cookie = info->si_value.sival_ptr;
	struct mu_parked_row *row;
	size_t i;

	for (row = parking->rows; row != NULL; row = row->next) {
		if (info->si_code == SI_QUEUE && cookie >= row->threads &&
		    cookie < row->threads + row->count)
			return cookie->tid == tid ? cookie : NULL;
		for (i = 0; i < row->count; i++)
			if (row->threads[i].tid == tid)
				return &row->threads[i];
	}
	return NULL;
}

/* False: this thread is not expected, or not any more. */
static bool
arrive(struct mu_parking *parking, struct mu_parked *thread, void *frame)
{
	int wanted = MU_PARKED_WANTED;

	if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != wanted)
		return false;
	thread->frame = frame;
	mu_frame_bases(thread->bases);
	if (!__atomic_compare_exchange_n(&thread->state, &wanted,
		MU_PARKED_HERE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	if (__atomic_sub_fetch(&parking->missing, 1, __ATOMIC_ACQ_REL) == 0)
		mu_sys_futex_wake(&parking->missing, 1, FUTEX_PRIVATE_FLAG);
	return true;
}

static void
stay(struct mu_parking *parking, struct mu_parked *thread)
{
	int here = MU_PARKED_HERE;

	while (__atomic_load_n(&parking->gate, __ATOMIC_ACQUIRE) == 0) {
		if (mu_sys_now_ns() >= parking->leave_ns) {
			__atomic_compare_exchange_n(&thread->state, &here,
			    MU_PARKED_LEFT, false, __ATOMIC_ACQ_REL,
			    __ATOMIC_RELAXED);
			return;
		}
		mu_sys_futex_wait(
		    &parking->gate, 0, FUTEX_PRIVATE_FLAG, parking->leave_ns);
	}
}

/* Was it we who sent it? The kernel leaves si_pid 0 when the queue is full. */
static bool
is_ours(const siginfo_t *info, pid_t pid)
{
	return (info->si_code == SI_QUEUE || info->si_code == SI_USER) &&
	    (info->si_pid == pid || info->si_pid == 0);
}

/*
 * A tail call: the handler of pthread_cancel() unwinds the stack. What the
 * default action would have done is done when the handler is gone.
 */
static void
hand_on(int signo, siginfo_t *info, void *context)
{
	const struct mu_signal_action *earlier = &lot.earlier[index_of(signo)];

	if (earlier->handler == (void *)SIG_IGN)
		return;
	if (earlier->handler == (void *)SIG_DFL) {
		if (signo >= MU_PARKING_GLIBC)
			__atomic_store_n(&lot.owed, signo, __ATOMIC_RELEASE);
		return;
	}
	((void (*)(int, siginfo_t *, void *))earlier->handler)(
	    signo, info, context);
}

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	pid_t pid = mu_sys_getpid(), tid = mu_sys_gettid();
	struct mu_parking *parking;
	struct mu_parked *thread = NULL;

	__atomic_add_fetch(&lot.inside, 1, __ATOMIC_SEQ_CST);
	parking = __atomic_load_n(&lot.current, __ATOMIC_SEQ_CST);
	if (parking != NULL && parking->pid == pid)
		thread = find_thread(parking, info, tid);
	if (thread != NULL && arrive(parking, thread, context))
		stay(parking, thread);
	if (__atomic_sub_fetch(&lot.inside, 1, __ATOMIC_SEQ_CST) == 0)
		mu_sys_futex_wake(&lot.inside, 1, FUTEX_PRIVATE_FLAG);
	if (!is_ours(info, pid))
		hand_on(signo, info, context);
}

void
mu_parking_open(struct mu_parking *parking)
{
	if (lot.pid != parking->pid) {
		lot.pid = parking->pid;
		lot.inside = 0;
		lot.owed = 0;
	}
	__atomic_store_n(&lot.current, parking, __ATOMIC_SEQ_CST);
}

bool
mu_parking_close(uint64_t deadline_ns)
{
	int inside;

	__atomic_store_n(&lot.current, NULL, __ATOMIC_SEQ_CST);
	while ((inside = __atomic_load_n(&lot.inside, __ATOMIC_SEQ_CST)) != 0) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_sys_futex_wait(
		    &lot.inside, inside, FUTEX_PRIVATE_FLAG, deadline_ns);
	}
	return true;
}

static bool
is_function(const struct mu_signal_action *action)
{
	return action->handler != (void *)SIG_DFL &&
	    action->handler != (void *)SIG_IGN &&
	    action->handler != (void *)on_signal;
}

bool
mu_parking_is_handled(int signo)
{
	struct mu_signal_action now;

	return signo < MU_PARKING_GLIBC &&
	    (mu_sys_signal_action(signo, NULL, &now) < 0 || is_function(&now));
}

/*
 * Ours may be there already, from before a fork() in the middle of a stop;
 * what was there before it is known then.
 */
long
mu_parking_install(int signo)
{
	const struct mu_signal_action ours = {
		.handler = (void *)on_signal,
		.flags =
		    SA_SIGINFO | SA_RESTART | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~(mu_sigmask)0,
	};
	struct mu_signal_action earlier;
	long error = mu_sys_signal_action(signo, NULL, &earlier);

	if (error == 0 && earlier.handler != ours.handler)
		lot.earlier[index_of(signo)] = earlier;
	return error < 0 ? error : mu_sys_signal_action(signo, &ours, NULL);
}

/*
 * A signal of ours that a thread has not taken yet must not meet the default
 * action: to ignore a signal drops it wherever it is pending. A handler that
 * another thread has installed meanwhile stays.
 */
void
mu_parking_uninstall(int signo, bool pending)
{
	struct mu_signal_action earlier = lot.earlier[index_of(signo)];
	struct mu_signal_action ignore = earlier, now;
	int owed;

	ignore.handler = (void *)SIG_IGN;
	if (mu_sys_signal_action(signo, NULL, &now) == 0 &&
	    now.handler == (void *)on_signal) {
		if (pending && !is_function(&earlier))
			mu_sys_signal_action(signo, &ignore, NULL);
		mu_sys_signal_action(signo, &earlier, NULL);
	}
	owed = __atomic_exchange_n(&lot.owed, 0, __ATOMIC_ACQ_REL);
	if (owed != 0)
		mu_sys_kill(mu_sys_getpid(), owed);
}

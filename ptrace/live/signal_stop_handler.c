/*
 * The handler runs on the thread's alternate stack, if it has one (a coroutine
 * may have little stack left), with every signal blocked. It uses no TLS: a
 * task that was started by a raw clone() may have none.
 */
#include "ptrace/live/signal_stop_handler.h"

#include <string.h>

/*
 * Go uses SIGURG to interrupt its threads, so debuggers pass it on silently;
 * its default action is to ignore it, so a stray one does no harm. The same is
 * true of SIGWINCH. 33 and 32 are glibc's own, for setuid() and
 * pthread_cancel(): pthread_sigmask() never blocks them, and their handlers
 * ignore signals that were not sent by tgkill(), which ours is not.
 */
const int mu_signal_stop_signals[MU_SIGNAL_STOP_SIGNALS] = { SIGURG, SIGWINCH,
	33, 32 };

/* How long frames are read at most. */
#define READING_NS (10 * MU_NS_PER_SEC)

/* State that a signal handler must reach. */
static struct {
	pid_t pid; /* a forked child starts with fresh state */
	struct mu_signal_stop *current; /* NULL: no stop is in progress */
	int inside; /* futex: number of handlers that still use it */
	int owed;   /* a deadly signal arrived during the stop */
	bool late;  /* a thread may arrive after the stop was given up */
	struct mu_signal_action earlier[MU_SIGNAL_STOP_SIGNALS];
} handling;

static int
index_of(int signo)
{
	int i;

	for (i = 0; i < MU_SIGNAL_STOP_SIGNALS - 1; i++)
		if (mu_signal_stop_signals[i] == signo)
			break;
	return i;
}

/*
 * Find the thread by the address in the signal, or by its id: the kernel drops
 * the address if the queue is full, and another sender's signal may have taken
 * the only slot that a standard signal has.
 */
static struct mu_signal_thread *
find_thread(const struct mu_signal_stop *stop, const siginfo_t *info, pid_t tid)
{
	struct mu_signal_thread *cookie = info->si_value.sival_ptr, *thread;
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	struct mu_signal_thread_row *row;
	size_t i;

	for (row = at.row; row != NULL && info->si_code == SI_QUEUE;
	     row = __atomic_load_n(&row->next, __ATOMIC_ACQUIRE)) {
		i = ((uintptr_t)cookie - (uintptr_t)row->threads) /
		    sizeof(*cookie);
		if (i < MU_SIGNAL_THREAD_ROW && cookie == &row->threads[i] &&
		    cookie->tid == tid)
			return cookie;
	}
	while ((thread = mu_signal_thread_next(&at)) != NULL)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

/* Returns false if this thread is not expected (any more). */
static bool
arrive(
    struct mu_signal_stop *stop, struct mu_signal_thread *thread, void *frame)
{
	int wanted = MU_SIGNAL_THREAD_WANTED;

	if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != wanted)
		return false;
	thread->frame = frame;
	mu_frame_bases(thread->bases);
	if (!__atomic_compare_exchange_n(&thread->state, &wanted,
		MU_SIGNAL_THREAD_HERE, false, __ATOMIC_ACQ_REL,
		__ATOMIC_ACQUIRE))
		return false;
	if (__atomic_sub_fetch(&stop->missing, 1, __ATOMIC_ACQ_REL) == 0)
		mu_sys_futex_wake(&stop->missing, 1, FUTEX_PRIVATE_FLAG);
	return true;
}

/*
 * The thread continues by itself. Its frame is read only while it is here, or
 * was when reading began: then it waits for the end of that.
 */
static void
leave(struct mu_signal_stop *stop, struct mu_signal_thread *thread)
{
	uint64_t last_ns = stop->leave_ns + READING_NS;
	int here = MU_SIGNAL_THREAD_HERE;

	__atomic_compare_exchange_n(&thread->state, &here,
	    MU_SIGNAL_THREAD_LEFT, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	while (__atomic_load_n(&stop->reading, __ATOMIC_SEQ_CST) != 0 &&
	    mu_sys_now_ns() < last_ns)
		mu_sys_futex_wait(
		    &stop->reading, 1, FUTEX_PRIVATE_FLAG, last_ns);
}

static void
wait_until_released(
    struct mu_signal_stop *stop, struct mu_signal_thread *thread)
{
	while (__atomic_load_n(&stop->gate, __ATOMIC_ACQUIRE) == 0) {
		if (mu_sys_now_ns() >= stop->leave_ns) {
			leave(stop, thread);
			return;
		}
		mu_sys_futex_wait(
		    &stop->gate, 0, FUTEX_PRIVATE_FLAG, stop->leave_ns);
	}
}

void
mu_signal_stop_begin_reading(struct mu_signal_stop *stop)
{
	__atomic_store_n(&stop->reading, 1, __ATOMIC_SEQ_CST);
}

void
mu_signal_stop_end_reading(struct mu_signal_stop *stop)
{
	mu_sys_futex_set(&stop->reading, 0, INT32_MAX, FUTEX_PRIVATE_FLAG);
	stop->held_ns = mu_sys_now_ns();
}

/*
 * True if we sent the signal. The kernel sets si_pid to 0 when the queue is
 * full.
 */
static bool
is_ours(const siginfo_t *info, pid_t pid)
{
	return (info->si_code == SI_QUEUE || info->si_code == SI_USER) &&
	    (info->si_pid == pid || info->si_pid == 0);
}

static bool
is_function(const struct mu_signal_action *action)
{
	return action->handler != (void *)SIG_DFL &&
	    action->handler != (void *)SIG_IGN;
}

/*
 * Set the mask that the kernel would have set for the earlier handler, which
 * may never return.
 */
static void
set_mask(
    int signo, const struct mu_signal_action *action, const ucontext_t *context)
{
	mu_sigmask mask;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	mask |= action->mask;
	if (!(action->flags & SA_NODEFER))
		mask |= mu_signal_bit(signo);
	mu_sys_restore_signals(&mask);
}

/*
 * Pass the signal to the program's handler, by a tail call: the handler of
 * pthread_cancel() unwinds the stack. A default action is performed once our
 * handler is removed.
 */
static void
hand_on(int signo, const struct mu_signal_action *earlier, siginfo_t *info,
    void *context)
{
	void (*handler)(int, siginfo_t *, void *);

	if (!is_function(earlier)) {
		if (earlier->handler == (void *)SIG_DFL &&
		    signo >= MU_SIGNAL_STOP_GLIBC)
			__atomic_store_n(
			    &handling.owed, signo, __ATOMIC_RELEASE);
		return;
	}
	handler = (void (*)(int, siginfo_t *, void *))earlier->handler;
	set_mask(signo, earlier, context);
	handler(signo, info, context);
}

/* In a forked child STOP belongs to the parent and may be unmapped. */
static void
on_signal(int signo, siginfo_t *info, void *context)
{
	pid_t pid = mu_sys_getpid(), tid = mu_sys_gettid();
	struct mu_signal_action earlier;
	struct mu_signal_stop *stop;
	struct mu_signal_thread *thread = NULL;

	__atomic_add_fetch(&handling.inside, 1, __ATOMIC_SEQ_CST);
	stop = __atomic_load_n(&handling.current, __ATOMIC_SEQ_CST);
	earlier = handling.earlier[index_of(signo)];
	if (stop != NULL && handling.pid == pid)
		thread = find_thread(stop, info, tid);
	if (thread != NULL && arrive(stop, thread, context))
		wait_until_released(stop, thread);
	if (__atomic_sub_fetch(&handling.inside, 1, __ATOMIC_SEQ_CST) == 0)
		mu_sys_futex_wake(&handling.inside, 1, FUTEX_PRIVATE_FLAG);
	if (!is_ours(info, pid))
		hand_on(signo, &earlier, info, context);
}

bool
mu_signal_stop_is_installed(int signo)
{
	struct mu_signal_action now = { 0 };

	return mu_sys_signal_action(signo, NULL, &now) == 0 &&
	    now.handler == (void *)on_signal;
}

/*
 * Restore the earlier handler, unless another thread has installed one since.
 */
static void
put_back(int signo, bool pending)
{
	struct mu_signal_action earlier = handling.earlier[index_of(signo)];
	struct mu_signal_action ignore = earlier;

	ignore.handler = (void *)SIG_IGN;
	if (!mu_signal_stop_is_installed(signo))
		return;
	if (pending && !is_function(&earlier))
		mu_sys_signal_action(signo, &ignore, NULL);
	mu_sys_signal_action(signo, &earlier, NULL);
}

void
mu_signal_stop_open(struct mu_signal_stop *stop)
{
	int i;

	if (handling.pid != stop->pid) {
		for (i = 0; i < MU_SIGNAL_STOP_SIGNALS; i++)
			put_back(mu_signal_stop_signals[i], false);
		handling.pid = stop->pid;
		handling.inside = 0;
		handling.owed = 0;
	}
	__atomic_store_n(&handling.current, stop, __ATOMIC_SEQ_CST);
}

bool
mu_signal_stop_close(uint64_t deadline_ns)
{
	int inside;

	__atomic_store_n(&handling.current, NULL, __ATOMIC_SEQ_CST);
	while ((inside = __atomic_load_n(&handling.inside, __ATOMIC_SEQ_CST)) !=
	    0) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_sys_futex_wait(
		    &handling.inside, inside, FUTEX_PRIVATE_FLAG, deadline_ns);
	}
	return true;
}

bool
mu_signal_stop_is_handled(int signo)
{
	struct mu_signal_action now = { 0 };

	if (signo >= MU_SIGNAL_STOP_GLIBC)
		return false;
	return mu_sys_signal_action(signo, NULL, &now) < 0 ||
	    (is_function(&now) && now.handler != (void *)on_signal);
}

/*
 * Our handler may be installed already: the program may have read it during a
 * stop and set it again. The action before it is known then. The handler may be
 * called at once, and needs that action.
 */
long
mu_signal_stop_install(int signo)
{
	const struct mu_signal_action ours = {
		.handler = (void *)on_signal,
		.flags =
		    SA_SIGINFO | SA_RESTART | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~(mu_sigmask)0,
	};
	struct mu_signal_action *earlier = &handling.earlier[index_of(signo)];
	struct mu_signal_action now = { 0 }, was = { 0 };
	long error = mu_sys_signal_action(signo, NULL, &now);

	if (error == 0 && now.handler != ours.handler)
		*earlier = now;
	if (error == 0)
		error = mu_sys_signal_action(signo, &ours, &was);
	if (error < 0 || was.handler == now.handler)
		return error;
	/* Another thread has set a handler between the two calls. */
	*earlier = was;
	if (signo >= MU_SIGNAL_STOP_GLIBC || !is_function(&was))
		return 0;
	put_back(signo, false);
	return -EBUSY;
}

/*
 * If a thread has not taken our signal yet, the default action must not be
 * restored: setting it to "ignore" drops the signal wherever it is pending.
 */
void
mu_signal_stop_uninstall(int signo, bool pending)
{
	int owed;

	put_back(signo, pending || handling.late);
	handling.late |= pending;
	owed = __atomic_exchange_n(&handling.owed, 0, __ATOMIC_ACQ_REL);
	if (owed != 0)
		mu_sys_kill(mu_sys_getpid(), owed);
}

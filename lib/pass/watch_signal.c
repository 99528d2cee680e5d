/*
 * The handler starts a bare thread (raw clone; pthread_create allocates) on a
 * stack that was mapped in advance, and the pass runs there. So the handler
 * does not wait; the thread that it interrupted continues, and leaves malloc if
 * it was inside. The thread ends after at most min_interval: a permanent helper
 * thread of libc's would make the program multi-threaded for ever, and would be
 * missing after the fork() that makes a daemon.
 *
 * The bare thread shares the TLS of the interrupted thread. It runs only the
 * pass, which uses no errno and takes no libc lock; it unblocks one signal, by
 * which other passes stop it. The kernel reaps it like any thread.
 */
#include "lib/pass/watch_signal.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/pass/pass.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "mu/signal_action.h"
#include "mu/sys.h"
#include "mu/utc.h"

#define SIGSETXID 33 /* glibc's: setxid() sends it to threads that it made */

#define END_NS                                                        \
	(10 * MU_NS_PER_SEC) /* for the report, when the program ends \
			      */
#define STACK_SIZE (((size_t)256 << 10) + MU_STACK_GUARD)

enum { IDLE, RUNNING, RUNNING_AND_ASKED_AGAIN };

/* Reports that look alike are told apart. */
static void
log_number(struct mu_watch *watch)
{
	mu_log_sink_line(MU_LOG_INFO, "report %u, at %s:", ++watch->reports,
	    mu_utc(mu_sys_real_ns() / MU_NS_PER_SEC).text);
}

static void
report_once(struct mu_watch *watch)
{
	const struct mu_options *options = &mu_library.options;
	struct mu_request request = {
		.limit = options->max_leaks,
		.log_policy = MU_LOG_POLICY_FULL,
		.contents = options->log_contents,
	};
	struct UnreachableMemoryInfo info = { 0 };

	log_number(watch);
	mu_pass_run(&request, &info);
}

static void
log_wait(uint64_t ns)
{
	mu_log_sink_line(MU_LOG_INFO,
	    "asked again: the next pass begins in %zu ms (min_interval)",
	    (size_t)(ns / MU_NS_PER_MS));
}

/*
 * Sleep, so that the program gets to run between two reports; not if it waits
 * for the last one in exit(). Signals that arrive during this time are answered
 * by the report at its end. A fork does not copy the sleeping thread.
 */
static void
sleep_out_interval(const struct mu_watch *watch)
{
	uint64_t now = mu_sys_now_ns();
	long error;

	if (now < watch->next_ns)
		log_wait(watch->next_ns - now);
	while ((now = mu_sys_now_ns()) < watch->next_ns &&
	    __atomic_load_n(&watch->ending, __ATOMIC_ACQUIRE) == 0) {
		error = mu_sys_futex_wait(
		    &watch->ending, 0, FUTEX_PRIVATE_FLAG, watch->next_ns);
		if (error == -EPERM || error == -ENOSYS)
			mu_sys_sleep_ns(watch->next_ns - now);
	}
}

static void
watch_thread(void *arg)
{
	/*
	 * Other passes can stop a waiting thread; other code does not send this
	 * signal.
	 */
	const mu_sigmask waiting = ~mu_signal_bit(SIGSETXID);
	struct mu_watch *watch = arg;
	int state;

	mu_sys_restore_signals(&waiting);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-watch");
	do {
		sleep_out_interval(watch);
		__atomic_store_n(&watch->state, RUNNING, __ATOMIC_RELEASE);
		report_once(watch);
		watch->next_ns = mu_sys_now_ns() +
		    mu_library.options.min_interval * MU_NS_PER_MS;
		state = RUNNING;
	} while (!__atomic_compare_exchange_n(&watch->state, &state, IDLE,
	    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	for (;;)
		mu_sys1(SYS_exit, 0);
}

/* A signal that arrives during a pass requests one more pass. */
static bool
claim(struct mu_watch *watch)
{
	int state = IDLE;

	for (;;) {
		if (__atomic_compare_exchange_n(&watch->state, &state, RUNNING,
			false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
		if (state == RUNNING_AND_ASKED_AGAIN)
			return false;
		if (state == RUNNING &&
		    __atomic_compare_exchange_n(&watch->state, &state,
			RUNNING_AND_ASKED_AGAIN, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE))
			return false;
		state = IDLE;
	}
}

/*
 * If the process was forked while the thread ran, the state is RUNNING but
 * there is no thread.
 */
static void
heal_after_fork(struct mu_watch *watch)
{
	int tid = __atomic_load_n(&watch->tid, __ATOMIC_ACQUIRE);

	if (tid == 0 || mu_sys3(SYS_tgkill, mu_sys_getpid(), tid, 0) != -ESRCH)
		return;
	/* If two threads find this, one repairs it. */
	if (__atomic_compare_exchange_n(&watch->tid, &tid, 0, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		__atomic_store_n(&watch->state, IDLE, __ATOMIC_RELEASE);
}

/*
 * exit() runs destructors while other threads live. A child of fork() or
 * vfork() does not have that thread. A filter may kill for a call.
 */
__attribute__((destructor)) static void
await_last_report(void)
{
	struct mu_watch *watch = &mu_library.watch;
	int tid = __atomic_load_n(&watch->tid, __ATOMIC_ACQUIRE);
	uint64_t deadline_ns;

	if (tid == 0 || mu_filters_may_kill(&mu_library.filters) ||
	    mu_sys3(SYS_tgkill, mu_sys_getpid(), tid, 0) != 0)
		return;
	__atomic_store_n(&watch->ending, 1, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&watch->ending, 1, FUTEX_PRIVATE_FLAG);
	deadline_ns = mu_sys_now_ns() + END_NS;
	while ((tid = __atomic_load_n(&watch->tid, __ATOMIC_ACQUIRE)) != 0 &&
	    mu_sys_now_ns() < deadline_ns)
		mu_sys_futex_wait(&watch->tid, tid, 0, deadline_ns);
}

static void
start_thread(struct mu_watch *watch)
{
	mu_sigmask mask;
	int tid;
	long error;

	heal_after_fork(watch);
	if (!claim(watch))
		return;
	/*
	 * The last thread has left its loop; its stack will be free in a
	 * moment.
	 */
	while ((tid = __atomic_load_n(&watch->tid, __ATOMIC_ACQUIRE)) != 0)
		mu_sys_futex_wait(
		    &watch->tid, tid, 0, mu_sys_now_ns() + MU_NS_PER_SEC);
	mu_sys_block_signals(&mask);
	error = mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES |
		CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	    watch->stack + watch->stack_size, &watch->tid, watch_thread, watch);
	if (error < 0)
		__atomic_store_n(&watch->state, IDLE, __ATOMIC_RELEASE);
	mu_sys_restore_signals(&mask);
}

/* sa_handler and sa_sigaction share a word; SA_SIGINFO says which it is. */
static void
chain(const struct mu_sigaction *earlier, int signo, siginfo_t *info,
    void *context)
{
	if (earlier->handler == (void *)SIG_DFL ||
	    earlier->handler == (void *)SIG_IGN)
		return;
	if (earlier->flags & SA_SIGINFO)
		((void (*)(int, siginfo_t *, void *))earlier->handler)(
		    signo, info, context);
	else
		((void (*)(int))earlier->handler)(signo);
}

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	struct mu_watch *watch = &mu_library.watch;

	start_thread(watch);
	if (signo > 0 && signo < MU_WATCH_SIGNALS)
		chain(&watch->earlier[signo], signo, info, context);
}

static int
map_stack(struct mu_watch *watch)
{
	long address;

	if (watch->stack != NULL)
		return 0;
	address = mu_sys_map_stack(STACK_SIZE);
	if (mu_sys_failed(address))
		return (int)address;
	watch->stack_size = STACK_SIZE;
	watch->stack = (char *)address;
	return 0;
}

static bool
is_function(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/*
 * libc's sigaction() supplies the restorer and refuses its own signals (32,
 * 33). SA_ONSTACK: the interrupted thread may have no room left (Go's are
 * 2 KiB). SA_RESTART: the program must not see EINTR on our account. An earlier
 * handler runs inside ours, so its mask and its wish for EINTR become ours.
 */
static int
install(struct mu_watch *watch, int signo)
{
	struct sigaction ours = { 0 }, earlier;

	if (sigaction(signo, NULL, &earlier) != 0)
		return -errno;
	ours.sa_sigaction = on_signal;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	if (is_function(&earlier)) {
		ours.sa_mask = earlier.sa_mask;
		ours.sa_flags &= ~SA_RESTART;
		ours.sa_flags |= earlier.sa_flags & (SA_RESTART | SA_NODEFER);
	}
	watch->earlier[signo] = (struct mu_sigaction) {
		.handler = (void *)earlier.sa_sigaction,
		.flags = (unsigned long)earlier.sa_flags,
	};
	if (sigaction(signo, &ours, NULL) != 0)
		return -errno;
	watch->watched[signo] = true;
	return 0;
}

int
mu_watch_signal(int signo)
{
	struct mu_watch *watch = &mu_library.watch;
	mu_sigmask mask;
	int error = 0;

	if (signo <= 0 || signo >= MU_WATCH_SIGNALS)
		return -EINVAL;
	mu_sys_block_signals(&mask);
	if (mu_lock_take(&watch->lock, mu_sys_now_ns() + MU_NS_PER_SEC) !=
	    MU_OK) {
		mu_sys_restore_signals(&mask);
		return -EBUSY;
	}
	if (!watch->watched[signo])
		error = map_stack(watch);
	if (error == 0 && !watch->watched[signo])
		error = install(watch, signo);
	mu_lock_release(&watch->lock);
	mu_sys_restore_signals(&mask);
	return error;
}

#include "ptrace/live/wakeup.h"

#include <signal.h>

/* How long a lost SIGCHLD may delay the capture. */
#define POLL_NS 1000000ull

/*
 * A thread that gets a CPU at once stops within 50 microseconds. On a busy
 * machine another one waits for milliseconds, each time, if no priority is lent
 * to it.
 */
#define AT_ONCE_NS 100000ull

#define LOCK_PI2 13 /* Linux 5.14: a timeout of the monotonic clock */

#define SIGCHLD_MASK ((mu_sigmask)1 << (SIGCHLD - 1))

void
mu_wakeup_open(struct mu_wakeup *wakeup, struct mu_lender *lender)
{
	struct mu_kernel_action plain = { .handler = (uintptr_t)SIG_DFL };
	mu_sigmask block = SIGCHLD_MASK;

	*wakeup = (struct mu_wakeup) { .lender = lender };
	/*
	 * If this fails they are blocked anyway: see lib/helpers/collector.c.
	 */
	wakeup->masked = mu_sys4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block,
			     (long)&wakeup->mask, sizeof(mu_sigmask)) == 0;
	mu_sys4(SYS_rt_sigaction, SIGCHLD, 0, (long)&wakeup->action,
	    sizeof(mu_sigmask));
	/*
	 * do_notify_parent_cldstop() sends no SIGCHLD for these two. A handler
	 * does no harm, since it cannot run; and setting SIG_DFL would discard
	 * a SIGCHLD that is already pending.
	 */
	wakeup->action_changed = wakeup->action.handler == (uintptr_t)SIG_IGN ||
	    (wakeup->action.flags & SA_NOCLDSTOP) != 0;
	if (wakeup->action_changed)
		mu_sys4(SYS_rt_sigaction, SIGCHLD, (long)&plain, 0,
		    sizeof(mu_sigmask));
}

/* False: no SIGCHLD came. */
static bool
wait_for(uint64_t most_ns, uint64_t deadline_ns)
{
	mu_sigmask set = SIGCHLD_MASK;
	uint64_t now = mu_sys_now_ns(), ns;
	struct timespec span;

	if (now >= deadline_ns)
		return false;
	ns = deadline_ns - now < most_ns ? deadline_ns - now : most_ns;
	span = (struct timespec) { 0, (long)ns };
	return mu_sys4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&span,
		   sizeof(mu_sigmask)) > 0;
}

bool
mu_wakeup_wait(uint64_t deadline_ns)
{
	return wait_for(POLL_NS, deadline_ns);
}

/*
 * A futex with priority inheritance names its owner by number. The kernel asks
 * for no right over that thread, does not look at its memory, and takes the
 * priority back when the wait ends, also by a kill: attach_to_pi_owner(),
 * rt_mutex_cleanup_proxy_lock(). With FUTEX_PRIVATE_FLAG Linux 6.18 refuses
 * an owner in another process (EPERM).
 */
bool
mu_wakeup_boost(pid_t tid)
{
	uint32_t owner = (uint32_t)tid;
	uint64_t end_ns = mu_sys_now_ns() + POLL_NS;
	struct timespec end = { (time_t)(end_ns / MU_NS_PER_SEC),
		(long)(end_ns % MU_NS_PER_SEC) };
	long error = mu_sys4(SYS_futex, (long)&owner, LOCK_PI2, 0, (long)&end);

	/* The thread has ended, and the futex is ours. */
	if (error == 0)
		mu_sys2(SYS_futex, (long)&owner, FUTEX_UNLOCK_PI);
	return error == -ETIMEDOUT;
}

void
mu_wakeup_await(struct mu_wakeup *wakeup, pid_t tid, uint64_t deadline_ns)
{
	if (wakeup->slow)
		mu_lender_lend(wakeup->lender, tid);
	wakeup->slow =
	    !wait_for(wakeup->slow ? POLL_NS : AT_ONCE_NS, deadline_ns);
}

void
mu_wakeup_close(struct mu_wakeup *wakeup)
{
	mu_lender_lend(wakeup->lender, 0);
	if (wakeup->action_changed)
		mu_sys4(SYS_rt_sigaction, SIGCHLD, (long)&wakeup->action, 0,
		    sizeof(mu_sigmask));
	if (wakeup->masked)
		mu_sys_restore_signals(&wakeup->mask);
}

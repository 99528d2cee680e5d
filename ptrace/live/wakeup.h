/*
 * Sleep until a tracee may have stopped, but never past a deadline.
 *
 * A tracee that stops or ends sends its tracer SIGCHLD. rt_sigtimedwait() takes
 * it, if it is blocked and not ignored; both are set up here and undone at the
 * end. If a SIGCHLD is lost (another thread of the tracer took it), that costs
 * a millisecond.
 *
 * In the collector all signals are blocked and its handlers are separate (no
 * CLONE_SIGHAND), so the program does not notice. In another tracer, SIGCHLDs
 * of its other children may be lost during that time, but not their exit
 * statuses; SA_NOCLDSTOP and SIG_IGN have no effect until the end.
 *
 * Runs in: collector, keeper, the command.
 */
#ifndef PTRACE_LIVE_WAKEUP_H
#define PTRACE_LIVE_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/sys.h"
#include "ptrace/live/lender.h"

/*
 * The kernel's struct sigaction, which differs from libc's, for x86-64 and
 * aarch64.
 */
struct mu_kernel_action {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	mu_sigmask mask;
};

struct mu_wakeup {
	mu_sigmask mask;
	struct mu_kernel_action action;
	bool masked, action_changed;
	struct mu_lender *lender; /* or NULL */
	bool slow;                /* what it waits for has not come at once */
};

/*
 * Block SIGCHLD and make sure that it is not ignored, in the calling thread.
 * LENDER may be NULL.
 */
void mu_wakeup_open(struct mu_wakeup *wakeup, struct mu_lender *lender);

/*
 * Sleep until SIGCHLD, DEADLINE_NS or a millisecond, whichever is first. False:
 * no SIGCHLD came.
 */
bool mu_wakeup_wait(uint64_t deadline_ns);

/*
 * The same to wait for thread TID, which is lent a priority if it does not come
 * at once.
 */
void mu_wakeup_await(struct mu_wakeup *wakeup, pid_t tid, uint64_t deadline_ns);

/*
 * Sleep for a millisecond, whatever comes; during that time thread TID of any
 * process runs with the caller's priority if that is a real-time one. The
 * caller cannot interrupt it, so it must not be who measures the time. Kernels
 * before 5.14 cannot. False: there was no sleep.
 */
bool mu_wakeup_boost(pid_t tid);

/*
 * Restore the action of SIGCHLD and the signal mask, as far as mu_wakeup_open()
 * changed them.
 */
void mu_wakeup_close(struct mu_wakeup *wakeup);

#endif

/*
 * Sleep until a tracee may have stopped, but never past a deadline.
 *
 * A tracee that stops or ends sends its tracer SIGCHLD, which rt_sigtimedwait()
 * takes if it is blocked and not ignored. Both are set up here and undone at
 * the end. A SIGCHLD that is lost all the same (another thread of a tracer with
 * several took it) costs a millisecond.
 *
 * In the collector all signals are blocked and its handlers are separate (no
 * CLONE_SIGHAND), so the program does not notice. In any other tracer, SIGCHLDs
 * of its other children may be swallowed during that, but never their exit
 * statuses; SA_NOCLDSTOP or SIG_IGN have no effect until the end.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_WAKEUP_H
#define PTRACE_LIVE_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/sys.h"

/* struct sigaction of the kernel, not of libc, as x86-64 and aarch64 have. */
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
};

void mu_wakeup_open(struct mu_wakeup *wakeup);

/* Sleep until SIGCHLD, DEADLINE_NS or a millisecond, whichever is first. */
void mu_wakeup_wait(uint64_t deadline_ns);

void mu_wakeup_close(struct mu_wakeup *wakeup);

#endif

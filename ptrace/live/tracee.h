/*
 * One thread under ptrace: attach, stop, release.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_TRACEE_H
#define PTRACE_LIVE_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptrace/live/wakeup.h"

enum mu_tracee_state {
	MU_TRACEE_LISTED,         /* seen in /proc, not attached */
	MU_TRACEE_SEIZED,         /* attached, not yet seen stopped */
	MU_TRACEE_STOPPED,        /* by our interrupt */
	MU_TRACEE_GROUP_STOPPED,  /* was stopped before and stays so */
	MU_TRACEE_SIGNAL_STOPPED, /* stopped before the delivery of a signal */
	MU_TRACEE_GONE,           /* ended, or a zombie */
};

struct mu_tracee {
	pid_t tid;
	enum mu_tracee_state state;
	int signal; /* to be delivered at release; 0 = none */
	bool busy;  /* it was in its own code, not in a system call */
};

/*
 * True if the thread is in one of the stops in which its registers can be read.
 */
static inline bool
mu_tracee_stopped(const struct mu_tracee *tracee)
{
	return tracee->state == MU_TRACEE_STOPPED ||
	    tracee->state == MU_TRACEE_GROUP_STOPPED ||
	    tracee->state == MU_TRACEE_SIGNAL_STOPPED;
}

/*
 * Set state and signal from a wait status. STATUS is what waitid() gives,
 * without wait4()'s low byte: the signal, and from bit 8 the ptrace event.
 * Pure.
 */
void mu_tracee_classify(struct mu_tracee *tracee, int status);

/*
 * PTRACE_SEIZE, without PTRACE_O_EXITKILL: our death must not kill the program.
 * Returns 0 (SEIZED), -ESRCH, -EPERM, ...
 */
long mu_tracee_seize(struct mu_tracee *tracee);

/*
 * PTRACE_INTERRUPT. Returns 0 or -errno; -ESRCH means that we do not trace the
 * thread, so this is also a test for that.
 */
long mu_tracee_interrupt(const struct mu_tracee *tracee);

/* True if a SEIZED thread of PID has stopped or ended. Does not wait. */
bool mu_tracee_look(struct mu_tracee *tracee, pid_t pid);

/*
 * Wait until a SEIZED thread of PID has stopped or ended; false if DEADLINE_NS
 * comes first. The thread is interrupted again whenever WAKEUP, which is open,
 * ends a sleep. Exit statuses of threads other than the leader
 * are reaped (only the tracer can); the leader's belongs to its parent.
 */
bool mu_tracee_await(struct mu_tracee *tracee, pid_t pid,
    struct mu_wakeup *wakeup, uint64_t deadline_ns);

/*
 * True if a stopped thread of PID is still in the stop that was waited for. If
 * not (SIGKILL, execve), it is SEIZED, GONE, or in another stop.
 */
bool mu_tracee_confirm(struct mu_tracee *tracee, pid_t pid);

/*
 * Detach a stopped thread and deliver its signal; a group-stopped one gets none
 * and stays stopped. Returns false if it was not stopped; it is SEIZED then.
 */
bool mu_tracee_detach(struct mu_tracee *tracee);

#endif

/*
 * Check whether starting a helper would harm the program.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PROBE_H
#define PTRACE_LIVE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/status.h"

/*
 * Would a helper be in our PID namespace? After unshare(CLONE_NEWPID) or
 * setns() the next child is not: it may be the first process of a new
 * namespace, whose end ends the namespace, so that the program could start no
 * more. True if that cannot be known (before Linux 4.12).
 */
bool mu_probe_helpers_stay(void);

/*
 * Would ptrace by a process that shares our memory kill us? Until Linux 5.16 a
 * death with a core dump, such as by a seccomp filter's SIGSYS, killed all
 * processes that share the memory (zap_threads() in fs/coredump.c;
 * 0258b5fd7c71, "coredump: Limit coredumps to a single thread group").
 *
 * Only if the kernel is older and this thread has a filter, or when ALWAYS is
 * set (for tests), a child with separate memory tries it. True if that kills
 * it, and also if that cannot be found out until DEADLINE_NS.
 */
bool mu_probe_deadly(bool always, uint64_t deadline_ns);

/*
 * May a stop by signal be tried? Filters with a list of what is allowed may
 * kill for the rest. Asked of a child if this thread has a filter; that costs
 * a fork, beside the running program. MU_ERR_NO_PERMISSION: it died of that.
 */
enum mu_status mu_probe_signal_stop(uint64_t deadline_ns, struct mu_why *why);

#endif

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
 * True if a helper would be in our PID namespace. After unshare(CLONE_NEWPID)
 * or setns() it would not: it might become the first process of a new
 * namespace, and its end would end the namespace, so that the program could
 * start no more processes. Also true if that cannot be known (before Linux
 * 4.12).
 */
bool mu_probe_helpers_stay(void);

/*
 * True if ptrace by a process that shares our memory would kill us. Until Linux
 * 5.16 a death with a core dump, such as by a seccomp filter's SIGSYS, killed
 * all processes that share the memory (zap_threads() in fs/coredump.c;
 * 0258b5fd7c71, "coredump: Limit coredumps to a single thread group").
 *
 * A child with separate memory tries it, but only if the kernel is older and
 * this thread has a filter, or if ALWAYS is set (for tests). Returns true if
 * the child is killed or has no result by DEADLINE_NS.
 */
bool mu_probe_kills(bool always, uint64_t deadline_ns);

/*
 * Check that a stop by signal, or by a tracer, is safe: a seccomp filter with a
 * list of allowed calls may kill the process for others. If this thread has a
 * filter, a child tries the calls, which costs a fork while the program runs.
 * MU_ERR_NO_PERMISSION: the child was killed.
 */
enum mu_status mu_probe_signal_stop(uint64_t deadline_ns, struct mu_why *why);

#endif

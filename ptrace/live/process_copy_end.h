/*
 * The last steps in which a copy of a process ends: see process_copy.h.
 *
 * Runs in: keeper.
 */
#ifndef PTRACE_LIVE_PROCESS_COPY_END_H
#define PTRACE_LIVE_PROCESS_COPY_END_H

#include <stdbool.h>

#include "ptrace/live/process_copy.h"
#include "ptrace/live/remote_thread.h"

/* Let THREAD, of its parent, wait for the zombie. */
enum mu_status mu_process_copy_reap(const struct mu_process_copy *copy,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why);

/* The same for PID, its parent, which runs: one thread of it is stopped. */
enum mu_status mu_process_copy_reap_ended(const struct mu_process_copy *copy,
    pid_t pid, uint64_t deadline_ns, struct mu_why *why);

#endif

/*
 * The last steps of a copy of a process: see process_copy.h.
 *
 * Runs in: keeper.
 */
#ifndef PTRACE_REMOTE_PROCESS_COPY_END_H
#define PTRACE_REMOTE_PROCESS_COPY_END_H

#include <stdbool.h>

#include "ptrace/remote/process_copy.h"
#include "ptrace/remote/remote_thread.h"

/* Make THREAD, a thread of the copy's parent, wait for the zombie. */
enum mu_status mu_process_copy_reap(const struct mu_process_copy *copy,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why);

/*
 * The same for its running parent PID: one of its threads is stopped for it. If
 * PID has ended, init reaps the copy. After a failure the copy stays a zombie
 * as long as PID lives.
 */
enum mu_status mu_process_copy_reap_ended(const struct mu_process_copy *copy,
    pid_t pid, uint64_t deadline_ns, struct mu_why *why);

#endif

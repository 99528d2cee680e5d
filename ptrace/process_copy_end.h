/*
 * The two steps in which a copy of a process ends: see process_copy.h.
 *
 * Runs in: keeper. Uses no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_PROCESS_COPY_END_H
#define PTRACE_PROCESS_COPY_END_H

#include <stdbool.h>

#include "ptrace/process_copy.h"
#include "ptrace/remote_thread.h"

/*
 * Kill the copy, and wait as its tracer: then it is a zombie of its parent's.
 * Its memory is given back first, which takes a while; false: DEADLINE_NS came
 * first.
 */
bool mu_process_copy_end(
    const struct mu_process_copy *copy, uint64_t deadline_ns);

/* Let THREAD, of its parent, wait for the zombie. */
enum mu_status mu_process_copy_reap(const struct mu_process_copy *copy,
    struct mu_remote_thread *thread, uint64_t deadline_ns, struct mu_why *why);

#endif

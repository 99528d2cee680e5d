/*
 * Read threads and their registers from a core's notes.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_THREADS_H
#define PTRACE_CORE_THREADS_H

#include "heapwalk/subject/snapshot.h"
#include "ptrace/core/file.h"

/*
 * Fill threads, values and places of SNAP, from ARENA. MU_ERR_ARGUMENT with WHY
 * if the core has no thread: then there are no stacks and registers to search.
 */
enum mu_status mu_core_threads_read(struct mu_snapshot *snap,
    const struct mu_core_file *core, struct mu_arena *arena,
    struct mu_why *why);

#endif

/*
 * A live, stopped process becomes a snapshot.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_SNAPSHOT_H
#define PTRACE_LIVE_SNAPSHOT_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/kernel_values.h"
#include "ptrace/live/signal_threads.h"
#include "ptrace/live/threads.h"
#include "ptrace/live/tracer_stop.h"

/*
 * Fill pid, threads, values and kernel_values of SNAP from the stopped THREADS.
 * Entries that SNAP already has (of a requester that is not stopped) are kept,
 * as the first ones. The caller fills mappings, memory, own ranges and
 * registered roots. All arrays come from ARENA. On failure SNAP is unchanged.
 *
 * FILES were opened before the stop; may be NULL.
 *
 * MU_ERR_TARGET_GONE: a thread ended although it was stopped, so the process is
 * being killed.
 */
enum mu_status mu_snapshot_live(struct mu_snapshot *snap,
    const struct mu_threads *threads, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/*
 * The same for our own process, whose threads are stopped by signal. Runs in:
 * original.
 */
enum mu_status mu_snapshot_signal_stop(struct mu_snapshot *snap,
    const struct mu_signal_stop *stop, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/*
 * The same for threads stopped by the command that traces us. MU_ERR_ARGUMENT:
 * the command's answer contradicts itself. Runs in: original.
 */
enum mu_status mu_snapshot_tracer_stop(struct mu_snapshot *snap,
    const struct mu_tracer_stop *stop, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/* Then, with threads still stopped: read the mappings into SNAP. */
enum mu_status mu_snapshot_mappings(
    struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

#endif

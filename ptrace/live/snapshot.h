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
#include "ptrace/live/halt.h"
#include "ptrace/live/kernel_values.h"
#include "ptrace/live/signal_threads.h"
#include "ptrace/live/threads.h"

/*
 * Fill pid, threads, values and kernel_values of SNAP from the stopped
 * THREADS. What of these SNAP already has (of a requester who is not stopped)
 * stays, as the first of them. The mappings, memory, own ranges and
 * registered roots are the caller's to fill. All arrays come from ARENA. SNAP
 * is changed only by success.
 *
 * FILES: opened before the stop, or NULL.
 *
 * MU_ERR_TARGET_GONE: a thread ended although it was stopped, so the process
 * is being killed.
 */
enum mu_status mu_snapshot_live(struct mu_snapshot *snap,
    const struct mu_threads *threads, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/* The same of our own process, its threads stopped by signal. Runs in:
 * original. */
enum mu_status mu_snapshot_signal_stop(struct mu_snapshot *snap,
    const struct mu_signal_stop *stop, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/*
 * The same, its threads stopped by the command that traces it. MU_ERR_ARGUMENT:
 * that command's answer contradicts itself. Runs in: original.
 */
enum mu_status mu_snapshot_halted(struct mu_snapshot *snap,
    const struct mu_halt *halt, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why);

/* Afterwards, and while threads are stopped: the mappings of SNAP. */
enum mu_status mu_snapshot_mappings(
    struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

#endif

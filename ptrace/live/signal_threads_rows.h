/*
 * The records of the threads of a stop by signal.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_THREADS_ROWS_H
#define PTRACE_LIVE_SIGNAL_THREADS_ROWS_H

#include "ptrace/live/signal_threads.h"

/*
 * Add a record, in the state MU_SIGNAL_THREAD_GONE. Returns NULL if memory is
 * exhausted.
 */
struct mu_signal_thread *mu_signal_thread_add(
    struct mu_signal_stop *stop, pid_t tid);

/*
 * Find thread TID; NULL if there is none. The search continues after the last
 * match, at AT: a listing has the threads in the same order as the one before.
 */
struct mu_signal_thread *mu_signal_thread_find(
    const struct mu_signal_stop *stop, struct mu_signal_thread_cursor *at,
    pid_t tid);

/* Do not wait for THREAD any longer. */
void mu_signal_thread_give_up(
    struct mu_signal_stop *stop, struct mu_signal_thread *thread);

#endif

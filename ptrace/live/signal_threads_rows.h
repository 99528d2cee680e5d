/*
 * The records of the threads of a stop by signal.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_THREADS_ROWS_H
#define PTRACE_LIVE_SIGNAL_THREADS_ROWS_H

#include "ptrace/live/signal_threads.h"

/* A new one, in the state MU_SIGNAL_THREAD_GONE; NULL: no memory. */
struct mu_signal_thread *mu_signal_thread_add(
    struct mu_signal_stop *stop, pid_t tid);

/*
 * Thread TID, or NULL. The search goes on behind what it found last, at AT: a
 * listing has the threads in the order of the one before.
 */
struct mu_signal_thread *mu_signal_thread_find(
    const struct mu_signal_stop *stop, struct mu_signal_thread_cursor *at,
    pid_t tid);

/* It will not come: it ended, or we stopped waiting. */
void mu_signal_thread_give_up(
    struct mu_signal_stop *stop, struct mu_signal_thread *thread);

#endif

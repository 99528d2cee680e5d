/*
 * Send threads the signal, and wait until they are in the handler.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_STOP_AWAIT_H
#define PTRACE_LIVE_SIGNAL_STOP_AWAIT_H

#include "mu/status.h"
#include "ptrace/live/signal_threads.h"

/* Send the signal to THREAD, a record of STOP. Returns 0 or -errno. */
long mu_signal_stop_send(
    const struct mu_signal_stop *stop, struct mu_signal_thread *thread);

/*
 * Wait until all threads have arrived or ended. MU_ERR_TIMEOUT: STOP_NS has
 * passed. MU_ERR_SIGNALS_BLOCKED: a thread seems to block the signal
 * permanently.
 */
enum mu_status mu_signal_stop_await(
    struct mu_signal_stop *stop, uint64_t stop_ns, struct mu_why *why);

#endif

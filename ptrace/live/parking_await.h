/*
 * Send threads the signal, and wait until they are in the handler.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PARKING_AWAIT_H
#define PTRACE_LIVE_PARKING_AWAIT_H

#include "mu/status.h"
#include "ptrace/live/parked.h"

/* Send THREAD, a record of PARKING, the signal. 0, or -errno. */
long mu_parking_send(
    const struct mu_parking *parking, struct mu_parked *thread);

/*
 * Wait until all threads have arrived or ended. MU_ERR_TIMEOUT: it is STOP_NS.
 * MU_ERR_SIGNALS_BLOCKED: a thread blocks the signal, apparently for good.
 */
enum mu_status mu_parking_await(
    struct mu_parking *parking, uint64_t stop_ns, struct mu_why *why);

#endif

/*
 * Stop every thread of our own process without ptrace: each gets a signal and
 * waits in its handler.
 *
 * The handler is installed only until the stop is complete. The signal is one
 * that no thread blocks and, except for glibc's own two, that the program does
 * not handle.
 *
 * For a stopped thread the effects are those of any handler under SA_RESTART:
 * signal(7) lists the calls that fail with EINTR all the same.
 */
#ifndef PTRACE_LIVE_SIGNAL_STOP_H
#define PTRACE_LIVE_SIGNAL_STOP_H

#include "mu/status.h"
#include "ptrace/live/signal_threads.h"

/*
 * Stop every thread of PID, our own process, except EXCEPT, the calling one.
 * Like mu_threads_stop() it lists threads until a listing shows no new one;
 * threads that end are no error. After a failure everything is released.
 * STOP need not be initialised; it must stay where it is, as ARENA must,
 * until mu_signal_stop_release() returns true.
 *
 * STOP_NS, LEAVE_NS (CLOCK_MONOTONIC): when the attempt is given up, and when a
 * thread that was not released continues by itself.
 *
 * MU_ERR_TIMEOUT: a thread did not arrive in time; one that sleeps in the
 * kernel uninterruptibly, as in vfork(), does not. MU_ERR_SIGNALS_BLOCKED: a
 * thread blocks every usable signal, or takes them by sigwait().
 */
enum mu_status mu_signal_stop_take(struct mu_signal_stop *stop, pid_t pid,
    pid_t except, struct mu_arena *arena, uint64_t stop_ns, uint64_t leave_ns,
    struct mu_why *why);

/*
 * The same in two steps: the first does what takes long with many threads, to
 * see which signals they let through, and is no stop yet.
 */
enum mu_status mu_signal_stop_prepare(struct mu_signal_stop *stop, pid_t pid,
    pid_t except, struct mu_arena *arena, struct mu_why *why);
enum mu_status mu_signal_stop_run(struct mu_signal_stop *stop, uint64_t stop_ns,
    uint64_t leave_ns, struct mu_why *why);

/* True if all threads are still in the handler. Call when all is done. */
bool mu_signal_stop_is_full(const struct mu_signal_stop *stop);

/*
 * Release all threads and wait until they have left. False: a thread has not
 * left in time; then STOP and the arena must stay for ever. Accepts the zero
 * value; may be called twice.
 */
bool mu_signal_stop_release(struct mu_signal_stop *stop);

#endif

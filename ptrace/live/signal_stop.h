/*
 * Stop every thread of our own process without ptrace: each gets a signal and
 * waits in its handler.
 *
 * The handler is installed only while threads are being stopped. The signal is
 * one that no thread blocks and, except for glibc's own two, that the program
 * does not handle.
 *
 * To a stopped thread it looks like any handler with SA_RESTART: signal(7)
 * lists the calls that fail with EINTR nevertheless.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_STOP_H
#define PTRACE_LIVE_SIGNAL_STOP_H

#include "mu/status.h"
#include "ptrace/live/signal_threads.h"

/*
 * Stop every thread of PID, our own process, except EXCEPT, the calling one, in
 * two steps. The first, before the stop, does what takes long with many
 * threads: find out which signals they do not block.
 *
 * Like mu_threads_stop_listed() it lists threads until a listing shows no new
 * one; a thread that ends is not an error. After a failure all threads are
 * released. STOP need not be initialised; STOP and ARENA must stay valid until
 * mu_signal_stop_release() returns true.
 *
 * STOP_NS and LEAVE_NS (CLOCK_MONOTONIC) are when the attempt is given up, and
 * when a thread that was not released continues by itself, unless frames are
 * being read.
 *
 * MU_ERR_TIMEOUT: a thread did not arrive in time, perhaps because it is in
 * uninterruptible sleep, as in vfork(). MU_ERR_SIGNALS_BLOCKED: a thread blocks
 * every usable signal, or takes them by sigwait().
 */
enum mu_status mu_signal_stop_prepare(struct mu_signal_stop *stop, pid_t pid,
    pid_t except, struct mu_arena *arena, struct mu_why *why);
enum mu_status mu_signal_stop_run(struct mu_signal_stop *stop, uint64_t stop_ns,
    uint64_t leave_ns, struct mu_why *why);

/*
 * The frames of threads that are still in the handler may be read between these
 * two. Call the second one soon.
 */
void mu_signal_stop_begin_reading(struct mu_signal_stop *stop);
void mu_signal_stop_end_reading(struct mu_signal_stop *stop);

/* True if all threads are still in the handler; call at the end of the work. */
bool mu_signal_stop_is_full(const struct mu_signal_stop *stop);

/*
 * Release all threads and wait until they have left the handler. Returns false
 * if one has not left in time; STOP and the arena must then never be freed.
 * Accepts the zero value; may be called twice.
 */
bool mu_signal_stop_release(struct mu_signal_stop *stop);

#endif

/*
 * Stop every thread of our own process without ptrace: each gets a signal and
 * waits in its handler.
 *
 * The handler is there for as long as the stop takes to come about, and
 * nobody else's signal is touched: the one that is used is one that no thread
 * blocks and, but for glibc's own two, that the program does not handle.
 *
 * What a parked thread sees of it is what it sees of any handler under
 * SA_RESTART: signal(7) lists the calls that fail with EINTR all the same.
 *
 * Runs in: original, in a thread with all signals blocked, one at a time. Uses
 * no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_PARKING_H
#define PTRACE_PARKING_H

#include "mu/status.h"
#include "ptrace/parked.h"

/*
 * Stop every thread of PID, our own process, but EXCEPT, the calling one. As
 * mu_threads_stop() it lists until nothing new comes; threads that end
 * meanwhile are no error. After a failure everything is released. PARKING
 * need not be initialised; it must stay where it is, as ARENA must, until a
 * release that was true.
 *
 * STOP_NS, LEAVE_NS (CLOCK_MONOTONIC): when the attempt is given up, and when
 * a thread that nobody released goes on.
 *
 * MU_ERR_TIMEOUT: a thread did not come in time; one that sleeps in the kernel
 * uninterruptibly, as in vfork(), does not. MU_ERR_SIGNALS_BLOCKED: a thread
 * blocks every signal that could be used, or takes them by sigwait().
 */
enum mu_status mu_parking_stop(struct mu_parking *parking, pid_t pid,
    pid_t except, struct mu_arena *arena, uint64_t stop_ns, uint64_t leave_ns,
    struct mu_why *why);

/*
 * The same in two steps: the first does what takes long with many threads, to
 * see which signals they let through, and is no stop yet.
 */
enum mu_status mu_parking_prepare(struct mu_parking *parking, pid_t pid,
    pid_t except, struct mu_arena *arena, struct mu_why *why);
enum mu_status mu_parking_stop_prepared(struct mu_parking *parking,
    uint64_t stop_ns, uint64_t leave_ns, struct mu_why *why);

/* Is everybody still there? To be asked when all is done. */
bool mu_parking_is_full(const struct mu_parking *parking);

/*
 * Let everybody go and wait until they have gone. False: somebody is still
 * there, although there was time; then PARKING and the arena must stay for
 * ever. Accepts the zero value; may be called twice.
 */
bool mu_parking_release(struct mu_parking *parking);

#endif

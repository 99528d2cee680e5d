/*
 * A thread of the command asks us to stop the other threads of its process, for
 * a check by the library in it (ptrace/live/tracer_stop.h).
 *
 * These functions do not wait: they record what to do, and stops arrive as
 * other events.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_TRACER_STOP_H
#define LIB_COMMAND_TRACER_STOP_H

#include <stdint.h>

#include "lib/command/traced_threads.h"

/*
 * THREAD is stopped before the delivery of SIGNO. Returns true if the signal
 * was a request; it is then handled.
 */
bool mu_command_stop_take(
    struct mu_traced_threads *threads, pid_t tid, int signo);

/*
 * Thread TID is stopped and may continue with SIGNO or, if LISTENS, by
 * PTRACE_LISTEN. It continues at once, unless its process is stopped.
 */
void mu_command_stop_continue(
    struct mu_traced_threads *threads, pid_t tid, int signo, bool listens);

/*
 * Thread TID is stopped within clone(), fork() or, if IS_LONG, vfork(), which
 * may take long. If its process is to stop it goes on to the end of the call,
 * so that it may be made to do another one; IS_LONG it stays here and is not.
 */
void mu_command_stop_in_call(
    struct mu_traced_threads *threads, pid_t tid, bool is_long);

/* A thread of process PID is about to end by itself. */
void mu_command_stop_thread_left(struct mu_traced_threads *threads, pid_t pid);

/*
 * THREAD ends. If it had asked for a stop it cannot release the others, so they
 * continue.
 */
void mu_command_stop_abandon(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/*
 * Process PID ends or has executed another program: the kernel has woken its
 * threads.
 */
void mu_command_stop_drop(struct mu_traced_threads *threads, pid_t pid);

/*
 * Continue threads that were stopped for too long. Returns when to call again
 * (CLOCK_MONOTONIC); 0: not needed.
 */
uint64_t mu_command_stop_expire(struct mu_traced_threads *threads);

#endif

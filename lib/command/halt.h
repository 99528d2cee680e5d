/*
 * A thread of the command asks for a stop of its process's other threads, for
 * a check by the library in it (ptrace/live/halt.h).
 *
 * Everything here only notes and returns: the stops come in as any others do.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_HALT_H
#define LIB_COMMAND_HALT_H

#include <stdint.h>

#include "lib/command/traced_threads.h"

/* THREAD is stopped before signal SIGNO. True: it was a request, and is served.
 */
bool mu_command_halt_take(
    struct mu_traced_threads *threads, pid_t tid, int signo);

/*
 * Thread TID is stopped and may go on with SIGNO, or, if LISTENS, by
 * PTRACE_LISTEN. It goes on at once, unless its process is halted.
 */
void mu_command_halt_go_on(
    struct mu_traced_threads *threads, pid_t tid, int signo, bool listens);

/* A thread of process PID is about to end, by itself. */
void mu_command_halt_left(struct mu_traced_threads *threads, pid_t pid);

/* THREAD ends, and cannot let the others go on any more, if it asked. */
void mu_command_halt_abandon(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/*
 * Process PID ends, or has become another program: the kernel has woken its
 * threads.
 */
void mu_command_halt_drop(struct mu_traced_threads *threads, pid_t pid);

/*
 * Threads that were stopped for too long go on. When that is to be called again
 * (CLOCK_MONOTONIC); 0: not.
 */
uint64_t mu_command_halt_hurry(struct mu_traced_threads *threads);

#endif

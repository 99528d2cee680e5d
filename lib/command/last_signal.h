/*
 * A signal that ends its process is held until no thread of the process is in
 * malloc, whose data would otherwise be found half changed at the end.
 *
 * The thread that is about to receive the signal stays stopped, and all others
 * are stopped. Those in malloc run on until they leave it: they are stopped
 * again at the latest at their next system call, so the program does nothing
 * that others could see. A thread that is itself in malloc runs on in the same
 * way if its signal comes from outside, and gets it afterwards.
 *
 * SIGKILL is not reported before its delivery.
 *
 * These functions do not wait: they record what to do, and stops arrive as
 * other events.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_LAST_SIGNAL_H
#define LIB_COMMAND_LAST_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/command/traced_threads.h"

/* How waitpid() reports a system call: PTRACE_O_TRACESYSGOOD. */
#define MU_SYSCALL_STOP (SIGTRAP | 0x80)

/*
 * THREAD, whose signo and listens are set, is stopped and may continue. Returns
 * true if it is not for the caller to continue it, because its signal ends the
 * process, or another thread has such a signal.
 */
bool mu_last_signal_hold(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/*
 * True if SIGNO is not the program's: the end of a step of THREAD that came
 * after the signal for which it was made was delivered, on a busy machine.
 */
bool mu_last_signal_stepped(const struct mu_traced_threads *threads,
    struct mu_traced *thread, int signo);

/* True if a thread of process PID has such a signal. */
bool mu_last_signal_any(const struct mu_traced_threads *threads, pid_t pid);

/* A thread of process PID is about to end by itself. */
void mu_last_signal_thread_left(struct mu_traced_threads *threads, pid_t pid);

/*
 * THREAD ends; if it had such a signal the others continue, and one of them
 * gets it.
 */
void mu_last_signal_abandon(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/*
 * Process PID ends or has executed another program: the kernel has woken its
 * threads.
 */
void mu_last_signal_drop(struct mu_traced_threads *threads, pid_t pid);

/*
 * Stop threads again, and deliver signals that are late. Returns when to call
 * again (CLOCK_MONOTONIC); 0: not needed.
 */
uint64_t mu_last_signal_expire(struct mu_traced_threads *threads);

#endif

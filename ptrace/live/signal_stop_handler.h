/*
 * The handler in which threads wait, and its state: the only part of a
 * pass that is reached through a global variable.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_SIGNAL_STOP_HANDLER_H
#define PTRACE_LIVE_SIGNAL_STOP_HANDLER_H

#include "mu/signal_action.h"
#include "ptrace/live/signal_threads.h"

/* The signals that may be used, in order of preference. */
#define MU_SIGNAL_STOP_SIGNALS 4
extern const int mu_signal_stop_signals[MU_SIGNAL_STOP_SIGNALS];
#define MU_SIGNAL_STOP_GLIBC 32 /* from here on they are glibc's */

/*
 * Make the handler hold the threads of STOP. The remains of another stop, left
 * by a fork() in the middle of it, are dropped.
 */
void mu_signal_stop_open(struct mu_signal_stop *stop);

/*
 * Detach the handler from its stop, and wait until no thread is in it. Returns
 * false if DEADLINE_NS comes first.
 */
bool mu_signal_stop_close(uint64_t deadline_ns);

/*
 * Install the handler for SIGNO, and restore the earlier action. -EBUSY: the
 * program has a handler, which stays.
 */
long mu_signal_stop_install(int signo);
bool mu_signal_stop_is_installed(int signo);
void mu_signal_stop_uninstall(int signo, bool pending);

/* True if the program handles SIGNO; it is not used then. */
bool mu_signal_stop_is_handled(int signo);

#endif

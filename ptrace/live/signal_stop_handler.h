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

/* Which signals may be used, the preferred first. */
#define MU_SIGNAL_STOP_SIGNALS 4
extern const int mu_signal_stop_signals[MU_SIGNAL_STOP_SIGNALS];
#define MU_SIGNAL_STOP_GLIBC 32 /* from here on they are glibc's */

/*
 * From now on the handler holds the threads of STOP. What a fork() in the
 * middle of a stop has left of another one is forgotten.
 */
void mu_signal_stop_open(struct mu_signal_stop *stop);

/*
 * The handler knows no stop any more; waits until no thread is in it.
 * False: DEADLINE_NS came first.
 */
bool mu_signal_stop_close(uint64_t deadline_ns);

/*
 * Install the handler for SIGNO, and put back what was there. -EBUSY: the
 * program has one, which stays.
 */
long mu_signal_stop_install(int signo);
bool mu_signal_stop_is_installed(int signo);
void mu_signal_stop_uninstall(int signo, bool pending);

/* True if the program handles SIGNO; it is not used then. */
bool mu_signal_stop_is_handled(int signo);

#endif

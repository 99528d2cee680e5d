/*
 * The handler that threads are parked in, and its state: the only part of a
 * pass that is reached through a global variable.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PARKING_HANDLER_H
#define PTRACE_LIVE_PARKING_HANDLER_H

#include "mu/signal_action.h"
#include "ptrace/live/parked.h"

/* Which signals may be used, the preferred first. */
#define MU_PARKING_SIGNALS 4
extern const int mu_parking_signals[MU_PARKING_SIGNALS];
#define MU_PARKING_GLIBC 32 /* from here on they are glibc's */

/*
 * From now on the handler parks the threads of PARKING. What a fork() in the
 * middle of a stop has left of another one is forgotten.
 */
void mu_parking_open(struct mu_parking *parking);

/*
 * The handler knows no parking any more; waits until no thread is in it.
 * False: DEADLINE_NS came first.
 */
bool mu_parking_close(uint64_t deadline_ns);

/*
 * Install the handler for SIGNO, and put back what was there. -EBUSY: the
 * program has one, which stays.
 */
long mu_parking_install(int signo);
bool mu_parking_is_installed(int signo);
void mu_parking_uninstall(int signo, bool pending);

/* True if the program handles SIGNO; it is not used then. */
bool mu_parking_is_handled(int signo);

#endif

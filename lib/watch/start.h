/*
 * The command that a watch starts, and ends if it still runs when the watch is
 * over.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_START_H
#define LIB_WATCH_START_H

#include "lib/watch/await.h"
#include "mu/status.h"

/* Start COMMAND, which ends with NULL. Returns its PID; or 0, and WHY. */
pid_t mu_watch_start(
    char **command, const struct mu_watch_signals *signals, struct mu_why *why);

/*
 * Run LINE by a shell, its standard output being our standard error. Returns
 * its status as from wait(2); or -1 if it was not run, or was ended because a
 * signal ends the watch.
 */
int mu_watch_round(const char *line, const struct mu_watch_signals *signals);

/*
 * Send SIGTERM to PID if it still runs, and wait for its end, 10 seconds or
 * until another signal arrives. Returns its status as from wait(2), or -1 if it
 * runs on. *ENDED: it had ended before.
 */
int mu_watch_finish(
    pid_t pid, const struct mu_watch_signals *signals, bool *ended);

#endif

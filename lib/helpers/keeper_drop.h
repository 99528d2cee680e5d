/*
 * Shared by keeper and watchdog (lib/helpers/keeper.h): how they start, and how
 * they end the copy.
 *
 * Runs in: keeper, watchdog.
 */
#ifndef LIB_HELPERS_KEEPER_DROP_H
#define LIB_HELPERS_KEEPER_DROP_H

#include <stddef.h>

#include "lib/helpers/keeper.h"

/* How often to check a process that its owner can stop. */
#define MU_KEEPER_LOOK_NS (MU_NS_PER_SEC / 5)

/*
 * The owner of the target can stop a process of ours that has the same user,
 * while it holds the target's threads. Kill such a process. PID 0: none.
 */
void mu_keeper_kill_stopped(pid_t pid);

/*
 * Start a new session with the process name NAME, block all signals, close all
 * descriptors except the COUNT in KEEP, and make this process the OOM killer's
 * last choice. If it is stopped when its parent ends, it is continued.
 */
void mu_keeper_isolate(const char *name, const int *keep, size_t count);

/*
 * End the copy of WORK's target and have it reaped. Waits up to a minute if
 * another tracer holds the target's threads. LENDER: see struct mu_wakeup.
 */
void mu_keeper_drop(struct mu_keeper_work *work, struct mu_lender *lender);

/*
 * The same after the keeper was killed. The kernel then ends the copy, or the
 * copy exits; the thread that started it may have reaped it already.
 */
void mu_keeper_drop_left(struct mu_keeper_work *work);

/*
 * The watchdog's main function; ARG is a struct mu_keeper_work. Runs in:
 * watchdog.
 */
void mu_watchdog_body(void *arg);

#endif

/*
 * What keeper and guardian share (lib/helpers/keeper.h): how they begin, and
 * how they end the copy.
 *
 * Runs in: keeper, guardian.
 */
#ifndef LIB_HELPERS_KEEPER_DROP_H
#define LIB_HELPERS_KEEPER_DROP_H

#include <stddef.h>

#include "lib/helpers/keeper.h"

/* How often a process that its owner can stop is checked. */
#define MU_KEEPER_LOOK_NS (MU_NS_PER_SEC / 5)

/*
 * The owner of the target may stop by a signal a process of ours with the same
 * user, while that process holds the target's threads: kill such a process. 0:
 * there is none.
 */
void mu_keeper_kill_stopped(pid_t pid);

/*
 * Become a new session with the process name NAME, block all signals, close all
 * descriptors but the COUNT in KEEP, and be the OOM killer's last choice. If
 * this process is stopped when its parent ends, it continues.
 */
void mu_keeper_settle(const char *name, const int *keep, size_t count);

/*
 * End the copy of WORK's target and have it reaped. If another tracer holds the
 * target's threads, wait for that up to a minute.
 */
void mu_keeper_drop(struct mu_keeper_work *work);

/*
 * The same after the keeper was killed. The kernel ends the copy then, or the
 * copy ends itself; the thread that started it may have reaped it already.
 */
void mu_keeper_drop_left(struct mu_keeper_work *work);

/* What the guardian runs; ARG is a struct mu_keeper_work. Runs in: guardian. */
void mu_guardian_body(void *arg);

#endif

/*
 * What keeper and guardian have in common (lib/keeper.h): how they begin, and
 * how the copy ends.
 *
 * Runs in: keeper, guardian. Uses no malloc, no errno, no libc lock.
 */
#ifndef LIB_KEEPER_DROP_H
#define LIB_KEEPER_DROP_H

#include <stddef.h>

#include "lib/keeper.h"

/* How often a process that can be stopped by its owner is looked at. */
#define MU_KEEPER_LOOK_NS (MU_NS_PER_SEC / 5)

/*
 * Whoever owns the target may stop a process of the same user by a signal, with
 * the target's threads in its hands: such a one is killed. 0: there is none.
 */
void mu_keeper_kill_stopped(pid_t pid);

/*
 * A session of its own under NAME, all signals blocked, no descriptors but the
 * COUNT in KEEP, and the last to be killed when memory runs out. If it is
 * stopped when its parent ends, it goes on.
 */
void mu_keeper_settle(const char *name, const int *keep, size_t count);

/*
 * End the copy of WORK's target and have it reaped. Another tracer of the
 * target may keep us from its threads: that is waited for, up to a minute.
 */
void mu_keeper_drop(struct mu_keeper_work *work);

/*
 * The same where the keeper was killed. The kernel ends the copy then, or the
 * copy itself does; the thread that was to start it may have reaped it, too.
 */
void mu_keeper_drop_left(struct mu_keeper_work *work);

/* What the guardian runs; ARG is a struct mu_keeper_work. Runs in: guardian. */
void mu_guardian_body(void *arg);

#endif

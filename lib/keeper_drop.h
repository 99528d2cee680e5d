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

/*
 * A session of its own under NAME, all signals blocked, no descriptors but the
 * COUNT in KEEP, and the last to be killed when memory runs out.
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

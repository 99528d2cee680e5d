/*
 * The records of the threads of a stop by signal.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PARKING_ROWS_H
#define PTRACE_LIVE_PARKING_ROWS_H

#include "ptrace/live/parked.h"

/* A new one, in the state MU_PARKED_GONE; NULL: no memory. */
struct mu_parked *mu_parked_add(struct mu_parking *parking, pid_t tid);

/*
 * Thread TID, or NULL. The search goes on behind what it found last, at AT: a
 * listing has the threads in the order of the one before.
 */
struct mu_parked *mu_parked_find(
    const struct mu_parking *parking, struct mu_parked_cursor *at, pid_t tid);

/* It will not come: it ended, or we stopped waiting. */
void mu_parked_give_up(struct mu_parking *parking, struct mu_parked *thread);

#endif

/*
 * Which signal threads are parked with, and what /proc says of it.
 *
 * Runs in: original. Uses no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_PARKING_CHOICE_H
#define PTRACE_PARKING_CHOICE_H

#include "ptrace/parking.h"
#include "ptrace/task_list.h"

/*
 * Choose a signal that no listed thread blocks and install the handler for
 * it: parking->signo, which stays 0 if no other thread is listed.
 */
enum mu_status mu_parking_choose(struct mu_parking *parking,
    const struct mu_task_list *listing, struct mu_why *why);

/* Is the signal neither pending for TID nor blocked by it? */
bool mu_parking_lost(const struct mu_parking *parking, pid_t tid);

#endif

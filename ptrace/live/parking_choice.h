/*
 * Choose the signal that stops threads, by what /proc says about it.
 *
 * Runs in: original.
 */
#ifndef PTRACE_LIVE_PARKING_CHOICE_H
#define PTRACE_LIVE_PARKING_CHOICE_H

#include "mu/status.h"
#include "ptrace/live/parked.h"

/*
 * Which signals does no listed thread block, await or have pending:
 * parking->seen, which is 0 if no other thread is listed.
 */
enum mu_status mu_parking_look(struct mu_parking *parking, struct mu_why *why);

/*
 * Install the handler for one of parking->seen, which may be some time ago:
 * parking->signo.
 */
enum mu_status mu_parking_choose(
    struct mu_parking *parking, struct mu_why *why);

enum mu_parking_fate {
	MU_PARKING_COMING,  /* the signal is on its way */
	MU_PARKING_LOST,    /* it is neither pending nor blocked */
	MU_PARKING_TAKEN,   /* so it is, and the handler is not ours */
	MU_PARKING_BLOCKED, /* it is pending and blocked */
	MU_PARKING_ENDED,
};

/* What became of thread TID, which was sent the signal. */
enum mu_parking_fate mu_parking_fate(
    const struct mu_parking *parking, pid_t tid);

#endif

/*
 * Raise our priority during a stop: while threads of the program are stopped,
 * other processes should not delay us.
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_PRIORITY_H
#define LIB_HELPERS_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

struct mu_priority {
	bool raised;
	bool above;                    /* above all others that are raised */
	int policy, rt_priority, nice; /* original values */
};

/*
 * Call before rights are given up: permits the calling process and its children
 * to raise their priority later (RLIMIT_RTPRIO, RLIMIT_NICE). Does nothing
 * without these rights.
 */
void mu_priority_allow(void);

/*
 * Schedule the calling thread by SCHED_FIFO, with the lowest such priority, or
 * else with the lowest nice value that is permitted.
 */
void mu_priority_raise(struct mu_priority *priority);

/*
 * The same with a higher priority than all others have, if permitted
 * (PRIORITY->above): for a thread that measures their time.
 */
void mu_priority_raise_above(struct mu_priority *priority);

/* True if mu_priority_raise_above() would be permitted. */
bool mu_priority_may_be_above(void);

/*
 * While URGENCY is raised: schedule thread TID of another process, for which
 * the caller is about to wait, by SCHED_FIFO, if the caller is and TID has the
 * usual policy. TID must restore that itself, which needs no right.
 */
void mu_priority_boost(const struct mu_priority *priority, pid_t tid);

/*
 * Restore the original values; also for a child, which inherits the raised
 * ones. Accepts the zero value.
 */
void mu_priority_restore(struct mu_priority *priority);

#endif

/*
 * Raise our priority during a stop: while threads of the program are stopped,
 * other processes should not delay us.
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_URGENCY_H
#define LIB_HELPERS_URGENCY_H

#include <stdbool.h>
#include <sys/types.h>

struct mu_urgency {
	bool raised;
	int policy, priority, nice; /* original values */
};

/*
 * Call before rights are given up: permits the calling process and its children
 * to raise their priority later (RLIMIT_RTPRIO, RLIMIT_NICE). Does nothing
 * without these rights.
 */
void mu_urgency_allow(void);

/*
 * Schedule the calling thread by SCHED_FIFO, with the lowest such priority, or
 * else with the lowest nice value that is permitted.
 */
void mu_urgency_raise(struct mu_urgency *urgency);

/*
 * While URGENCY is raised: schedule thread TID of another process, for which
 * the caller is about to wait, by SCHED_FIFO, if the caller is and TID has the
 * usual policy. TID must restore that itself, which needs no right.
 */
void mu_urgency_lend(const struct mu_urgency *urgency, pid_t tid);

/*
 * Restore the original values; also for a child, which inherits the raised
 * ones. Accepts the zero value.
 */
void mu_urgency_drop(struct mu_urgency *urgency);

#endif

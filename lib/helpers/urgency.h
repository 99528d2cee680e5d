/*
 * Raise our priority for the length of a stop: while threads of the program are
 * stopped, no other process should delay us.
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_URGENCY_H
#define LIB_HELPERS_URGENCY_H

#include <stdbool.h>
#include <sys/types.h>

struct mu_urgency {
	bool raised;
	int policy, priority, nice; /* as they were */
};

/*
 * Call before rights are given up: let the calling process and its children
 * raise themselves later (RLIMIT_RTPRIO, RLIMIT_NICE). Without them, nothing.
 */
void mu_urgency_allow(void);

/*
 * The calling thread is scheduled by SCHED_FIFO, with the lowest priority of
 * those, or else with the lowest nice value that it may have.
 */
void mu_urgency_raise(struct mu_urgency *urgency);

/*
 * While URGENCY is raised: thread TID of another process, which the caller is
 * about to wait for, is scheduled by SCHED_FIFO, too, if the caller is and was
 * scheduled as most are. TID has to change that itself, which takes no right.
 */
void mu_urgency_lend(const struct mu_urgency *urgency, pid_t tid);

/* As before. Also for a child, which inherits it. Accepts the zero value. */
void mu_urgency_drop(struct mu_urgency *urgency);

#endif

/*
 * --since: the blocks that an earlier look at the same process had lost, from a
 * saved look or a report in JSON.
 *
 * Runs in: the command.
 */
#ifndef LIB_SINCE_SINCE_H
#define LIB_SINCE_SINCE_H

#include <sys/types.h>

#include "heapwalk/fold/known.h"
#include "mu/status.h"

struct mu_since {
	pid_t pid;              /* 0: not known */
	struct mu_known *known; /* by address */
	size_t count, max;
	bool owners;    /* what hangs on them was lost, too */
	size_t missing; /* blocks that the report does not list */
};

/* MU_ERR_ARGUMENT with WHY: FILE is neither. Close in any case. */
enum mu_status mu_since_open(
    struct mu_since *since, const char *file, size_t limit, struct mu_why *why);

/*
 * The status of a look at process PID, which had STATUS and WHY: what is lost
 * in another process has other addresses, and what is not listed looks new.
 */
enum mu_status mu_since_judge(const struct mu_since *since, pid_t pid,
    enum mu_status status, struct mu_why *why);

/* Accepts the zero value. */
void mu_since_close(struct mu_since *since);

#endif

/*
 * What every step of a pass needs: whose it is, its time, its memory, its log,
 * and where the reason of a failure goes.
 */
#ifndef LIB_STATE_JOB_H
#define LIB_STATE_JOB_H

#include <sys/types.h>

#include "mu/arena.h"
#include "mu/log.h"
#include "mu/status.h"

struct mu_job {
	pid_t pid, tid; /* of the process; of the asking thread */
	uint64_t begin_ns, deadline_ns;
	struct mu_log log;
	struct mu_why why;
	struct mu_arena arena; /* all memory of the pass but stacks */
};

#endif

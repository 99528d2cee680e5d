/*
 * The pipe to the program, the sweeper's parent, and the sweeper's end there.
 */
#ifndef LIB_STATE_SWEEPER_END_H
#define LIB_STATE_SWEEPER_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/state/copy_budget.h"

/*
 * On this signal the sweeper unmaps its image and exits. It is the last
 * real-time signal, which programs do not use.
 */
#define MU_SWEEPER_DROP 64

struct mu_sweeper {
	pid_t pid;  /* child of the original, 0 = none */
	int status; /* wait4() status of the last one; -1: not known */
	int pipe_read, pipe_write;
	uint64_t deadline_ns;         /* for its answer */
	bool has_room;                /* there is room for an image */
	bool answered;                /* all of the answer is in the pipe */
	struct mu_copy_budget budget; /* for the present try */
};

/* Open the pipe of a try. MU_OK, or why not. Runs in: original. */
enum mu_status mu_sweeper_open_pipe(
    struct mu_sweeper *sweeper, struct mu_why *why);

/*
 * Reap the sweeper; kill it first if it has not ended by DEADLINE_NS (0: at
 * once). Does nothing if there is none. Runs in: original.
 */
void mu_sweeper_reap(struct mu_sweeper *sweeper, uint64_t deadline_ns);

/* True if the sweeper has ended. Runs in: original. */
bool mu_sweeper_ended(struct mu_sweeper *sweeper);

#endif

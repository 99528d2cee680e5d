/*
 * A running process as a subject of mu_check_run(), and what its looks tell
 * each other.
 */
#ifndef LIB_CHECK_PROCESS_H
#define LIB_CHECK_PROCESS_H

#include "lib/check/outside.h"
#include "lib/helpers/keeper.h"

#define MU_PROCESS_LOCKS 256

struct mu_process {
	pid_t pid;
	char program[256];
	struct mu_keeper keeper; /* of the last look */

	/* for the next look */
	struct mu_program_id program_id; /* that the last one saw */
	uint64_t ran_ns; /* CPU time when it was first seen not to be known */
	enum mu_keeper_way way;
	bool ask_wiped;  /* for memory that a fork empties */
	bool ask_stacks; /* the threads for their alternate stacks */
	uintptr_t locks[MU_PROCESS_LOCKS]; /* that the last search saw */
	size_t num_locks;
	size_t expected;    /* bytes outside the copy to be read in the stop */
	uint64_t copied_ns; /* the longest that a late copy took */

	/* what the last one means */
	bool wiped_wanted;     /* it ought to have asked for that memory */
	bool stacks_wanted;    /* it ought to have asked for the stacks */
	bool lost;             /* the copy was killed while it was read */
	struct mu_why no_room; /* for a copy; or no words */
	unsigned stack_tries;  /* looks that asked for alternate stacks */
};

#endif

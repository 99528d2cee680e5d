/*
 * One look at a running process: stop it, take its memory, search that, and
 * note what the look may have missed. Several make a check: process.c.
 */
#ifndef LIB_CHECK_PROCESS_LOOK_H
#define LIB_CHECK_PROCESS_LOOK_H

#include "lib/check/judgement.h"
#include "lib/helpers/keeper.h"

#define MU_PROCESS_LOCKS 256

/* Of the last look, unless something else is said. */
struct mu_process_look {
	const struct mu_check *check;
	struct mu_judgement judgement;
	struct mu_keeper keeper;
	uint64_t begin_ns, deadline_ns; /* of the check */
	enum mu_status status;
	struct mu_why why;

	/* for the next look */
	enum mu_keeper_way way;
	bool ask_wiped;  /* for memory that a fork empties */
	bool ask_stacks; /* the threads for their alternate stacks */
	uintptr_t locks[MU_PROCESS_LOCKS]; /* that the last search saw */
	size_t num_locks;
	size_t expected; /* bytes outside the copy to be read in the stop */

	/* what it means */
	bool wiped_wanted;     /* it ought to have asked for that memory */
	bool stacks_wanted;    /* it ought to have asked for the stacks */
	bool lost;             /* the copy was killed while it was read */
	bool unsettled;        /* a thread may have been in malloc */
	bool changing;         /* memory that is not in the copy changed */
	struct mu_why no_room; /* for a copy; or no words */

	/* of all looks */
	unsigned stack_tries; /* with threads asked for alternate stacks */
	uint64_t pause_ns;    /* the longest */
	uint64_t copied_ns;   /* the longest that a late copy took */
};

/*
 * Take one look, in the state that the check's former looks have left. The
 * outcome is in look->status, and what was found in look->judgement, until
 * mu_process_look_forget().
 */
void mu_process_look_take(struct mu_process_look *look);

/* Nothing of the search may be in use any more. */
void mu_process_look_forget(struct mu_process_look *look);

/* Was the heap judged? */
static inline bool
mu_process_look_judged(const struct mu_process_look *look)
{
	return look->status == MU_OK || look->status == MU_PARTIAL;
}

/* What it found may not be lost at another moment. */
bool mu_process_look_doubtful(const struct mu_process_look *look);

#endif

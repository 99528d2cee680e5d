/*
 * A running process as a subject of mu_check_run(), and what one look knows for
 * the next.
 */
#ifndef LIB_CHECK_PROCESS_H
#define LIB_CHECK_PROCESS_H

#include "heapwalk/memory/forked.h"
#include "lib/check/outside.h"
#include "lib/helpers/keeper.h"

#define MU_PROCESS_LOCKS 256

struct mu_process {
	pid_t pid;
	char program[256];
	const char *debug;       /* as in struct mu_check */
	struct mu_keeper keeper; /* of the latest look */

	/* for the next look */
	struct mu_program_id program_id; /* program seen by the last look */
	uint64_t seen_ns; /* CPU time of the process when it was first seen */
	uint64_t ran_ns;  /* CPU time of the program since then, at least */
	enum mu_keeper_method method;
	bool ask_wiped;  /* read memory that fork clears */
	bool ask_stacks; /* read the threads' alternate stacks */
	uintptr_t locks[MU_PROCESS_LOCKS]; /* seen by the last search */
	size_t num_locks;
	uint64_t peek_until_ns; /* 0: no stop found a thread inside malloc */
	bool any_moment;    /* a thread was inside malloc at each stop: it is
			       enough that the heap does not contradict itself */
	size_t expected;    /* bytes outside the copy to read during the stop */
	size_t kept;        /* and to keep; 0: not known */
	uint64_t copied_ns; /* longest time of a copy that came too late */
	unsigned late_copies;
	struct mu_late_threads late;

	/* what the last one means */
	struct mu_forked forked; /* if it found anything lost */
	bool wiped_wanted;       /* it should have read that memory */
	bool stacks_wanted;      /* it should have read the alternate stacks */
	bool lost;               /* the copy was killed while it was read */
	enum mu_status no_copy;  /* why there is no copy; or MU_OK */
	struct mu_why no_copy_why;
	unsigned stack_tries; /* looks that read alternate stacks */
};

/* CPU time of process PID, in ns; 0 if it is not known. */
uint64_t mu_process_cpu_ns(pid_t pid);

#endif

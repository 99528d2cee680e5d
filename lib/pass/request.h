/* What the caller wants from a pass. */
#ifndef LIB_PASS_REQUEST_H
#define LIB_PASS_REQUEST_H

#include "heapwalk/fold/known.h"
#include "lib/pipe/answer.h"
#include "lib/pipe/candidates.h"
#include "lib/pipe/entries.h"
#include "lib/state/caller.h"

/*
 * What was unreachable, by address, in memory of mu_library.results: this is
 * what MemunreachableCheckpoint stands for in the public header.
 */
struct mu_checkpoint {
	size_t count;
	struct mu_known blocks[];
};

/* What a pass logs. */
enum mu_log_policy {
	MU_LOG_POLICY_QUIET,   /* nothing, unless verbosity is set */
	MU_LOG_POLICY_FAILURE, /* the same, and why the heap was not checked */
	MU_LOG_POLICY_LEAKS,   /* that, and the report if a block is lost */
	MU_LOG_POLICY_FULL,    /* the report; with verbosity=1 also the steps */
};

struct mu_request {
	const struct mu_caller *caller; /* NULL: none */
	size_t limit;
	enum mu_log_policy log_policy;
	bool contents; /* entries and log have the contents of blocks */
	bool at_end;   /* if we cannot check, the command that traces us does */
	bool brief;    /* at_end: only it stops threads, and locks are waited
			  for no longer than MU_STOP_BRIEF_NS */
	bool hold;     /* brief: the program ends behind this, so threads stay
			  stopped behind the last look, for a while */
	bool confirm;  /* look twice, whatever the option says */
	bool array;    /* return the entries as an array: info->leaks */
	struct mu_entries *entries; /* return all entries, packed, in memory of
				       mu_library.results; NULL: no */
	const struct mu_checkpoint
	    *since; /* leave out its blocks; with UNREACHABLE and its words:
		       list those that are still allocated; NULL: none */
	struct mu_references *references;   /* asked for; NULL: leaks are */
	struct mu_unreachable *unreachable; /* return these as well; NULL: no */
	struct mu_pipe_usage *usage;        /* of the heap, too; NULL: not */
	struct mu_groups_info *groups;      /* of the entries; NULL: none */
	size_t *cure; /* receives the index of the remedy in info->reason, 0:
			 none; may be NULL */
};

#endif

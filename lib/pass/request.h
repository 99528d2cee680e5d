/*
 * What the caller wants of a pass.
 */
#ifndef LIB_PASS_REQUEST_H
#define LIB_PASS_REQUEST_H

#include "lib/pipe/candidates.h"
#include "lib/pipe/entries.h"
#include "lib/pipe/leak_pipe.h"
#include "lib/pipe/why_pipe.h"
#include "lib/state/caller.h"

/* Which of a pass's words are logged. */
enum mu_log_policy {
	MU_LOG_POLICY_QUIET, /* none, unless verbosity is set */
	MU_LOG_POLICY_LEAKS, /* the report, if not every block is reachable */
	MU_LOG_POLICY_FULL,  /* the report; with verbosity=1 the steps, too */
};

struct mu_request {
	const struct mu_caller *caller; /* NULL: none */
	size_t limit;
	enum mu_log_policy log_policy;
	bool contents; /* of blocks are wanted, and logged */
	bool at_end;   /* the command that traces us looks if we cannot */
	bool array;    /* of entries: info->leaks */
	struct mu_entries *entries;         /* all of them, packed: memory of
					       mu_library.results; NULL: not */
	struct mu_references *references;   /* asked for; NULL: leaks are */
	struct mu_unreachable *unreachable; /* these, too; NULL: not */
	struct mu_pipe_usage *usage;        /* of the heap, too; NULL: not */
	size_t *cure; /* where the remedy begins in info->reason, 0: none;
			 NULL: not asked for */
};

#endif

/*
 * All state of the library between passes: one hidden structure.
 *
 * It must be reachable without arguments because signal handlers, exit handlers
 * and Android's calls have none. The state of a pass is in a struct mu_pass on
 * its own stack.
 *
 * It must not contain the address of a block of the program in plain form:
 * .data and .bss of every module are searched. Such addresses are in mapped
 * memory that is not searched.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_LIBRARY_H
#define LIB_STATE_LIBRARY_H

#include "heapwalk/graph/words.h"
#include "heapwalk/memory/cgroups.h"
#include "lib/pass/filters.h"
#include "lib/pass/forked_end.h"
#include "lib/pass/test_case.h"
#include "lib/pass/watch_looks.h"
#include "lib/pass/watch_signal.h"
#include "lib/report/symbolizer.h"
#include "lib/state/exit_stack.h"
#include "lib/state/lock.h"
#include "lib/state/malloc_probe.h"
#include "lib/state/options.h"
#include "lib/state/registry.h"
#include "lib/state/results.h"
#include "lib/state/under_way.h"

/* Memory was left, and cannot have been used up before UNTIL_NS. */
struct mu_known_room {
	pid_t pid;
	uint64_t until_ns;
};

struct mu_library {
	struct mu_options options; /* written by the constructor, and
				      lib/pass/forked_end.c */
	struct mu_lock pass_lock;  /* one pass at a time */
	struct mu_under_way under_way;
	struct mu_registry registry;
	struct mu_cgroups_known cgroups; /* under pass_lock, as FILTER */
	struct mu_known_room room;       /* as CGROUPS */
	mu_words_filter *filter;         /* NULL until the first pass */
	bool userfaults_told; /* as CGROUPS; heapwalk/memory/userfaults.h */
	struct mu_results results;
	struct mu_watch watch;
	struct mu_looks looks;
	struct mu_malloc_probe malloc_probe; /* set by the constructor */
	struct mu_symbolizer symbolizer;     /* set by the constructor */
	struct mu_exit_stack exit_stack;     /* set by the constructor */
	struct mu_filters filters;           /* set by the constructor */
	struct mu_test_case test_case;
	struct mu_forked_end forked_end;
	unsigned passes_by_image; /* see lib/pass/in_place.c */
	int log_error;    /* errno of the last log that lost lines; atomic */
	int exit_status;  /* that at_exit requests; 0: none */
	int pid;          /* set by the constructor */
	int exit_thread;  /* tid that checks at the end; 0: none yet; atomic */
	int exit_checked; /* 1: that check is done; atomic */
};

extern struct mu_library mu_library __attribute__((visibility("hidden")));

#endif

/*
 * All state of the library between passes: one structure, hidden.
 *
 * It must be reachable without arguments because signal handlers, exit
 * handlers and Android's argument-free calls start from nothing. Everything
 * of a pass is in a struct mu_pass on its own stack instead.
 *
 * Nothing here may hold the address of a block of the program in plain sight:
 * .data and .bss of every module are scanned. Such words live in mapped memory
 * that the marking leaves out.
 */
#ifndef LIB_STATE_LIBRARY_H
#define LIB_STATE_LIBRARY_H

#include "lib/pass/watch_signal.h"
#include "lib/report/symbolizer.h"
#include "lib/state/exit_stack.h"
#include "lib/state/lock.h"
#include "lib/state/malloc_probe.h"
#include "lib/state/options.h"
#include "lib/state/registry.h"
#include "lib/state/results.h"
#include "lib/state/under_way.h"

struct mu_library {
	struct mu_options options; /* written once, by the constructor */
	struct mu_lock pass_lock;  /* one pass at a time */
	struct mu_under_way under_way;
	struct mu_registry registry;
	struct mu_results results;
	struct mu_watch watch;
	struct mu_malloc_probe malloc_probe; /* by the constructor */
	struct mu_symbolizer symbolizer;     /* as well */
	struct mu_exit_stack exit_stack;     /* as well */
	int log_error;   /* of the last log that lost lines: an errno; atomic */
	int exit_status; /* that at_exit asks for; 0: none */
};

extern struct mu_library mu_library __attribute__((visibility("hidden")));

#endif

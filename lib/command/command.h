/*
 * A COMMAND is run with the library in it.
 */
#ifndef LIB_COMMAND_COMMAND_H
#define LIB_COMMAND_COMMAND_H

#include <stdio.h>

#include "lib/check/check.h"
#include "lib/cli/options.h"

/* How a COMMAND ended, and what was found in it and in its children. */
struct mu_command_end {
	int wait_status; /* see wait(2) */
	bool leaks, unchecked, partial;
	bool partial_leaks; /* a partial answer has leaks */
};

struct mu_command {
	const struct mu_cli_options *options;
	struct mu_check check; /* how to look at it; its pid is not used */
	FILE *log;             /* what its library says, as it comes if LIVE */
	bool live;
	/* A process has reached its end, and stands still. */
	void (*show)(void *ctx, const struct mu_report *answer);
	void *ctx;
};

/*
 * Run the command, and show what there is at its end, however it ends. Signals
 * that others send to this process go on to it.
 *
 * MU_OK: it has ended, as END says. Otherwise it was not run.
 */
enum mu_status mu_command_run(const struct mu_command *command,
    struct mu_command_end *end, struct mu_why *why);

/*
 * End as the COMMAND did: by the same signal, without a core file, or return
 * its exit status; or return that of mu_command_status().
 */
int mu_command_pass_on(
    const struct mu_cli_options *options, const struct mu_command_end *end);

#endif

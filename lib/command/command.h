/* Run a COMMAND with the library in it. */
#ifndef LIB_COMMAND_COMMAND_H
#define LIB_COMMAND_COMMAND_H

#include <stdio.h>

#include "lib/check/check.h"
#include "lib/cli/options.h"

/* How a COMMAND ended, and the results for it and its children. */
struct mu_command_end {
	int wait_status; /* see wait(2) */
	bool leaks, unchecked, partial;
	bool partial_leaks; /* a partial answer has leaks */
};

struct mu_command {
	const struct mu_cli_options *options;
	struct mu_check check; /* how to check; its pid is not used */
	FILE *log;             /* for the library's messages, at once if LIVE */
	bool live;
	/* Called before the result is used; or NULL. */
	void (*judge)(void *ctx, struct mu_report *answer);
	/* Called for a process that has reached its end and is stopped. */
	void (*show)(void *ctx, const struct mu_report *answer);
	void *ctx;
};

/*
 * Run the command, and show the results at its end, however it ends. Signals
 * that other processes send to us are passed on to it.
 *
 * MU_OK: it has ended, as END says. Otherwise it was not run.
 */
enum mu_status mu_command_run(const struct mu_command *command,
    struct mu_command_end *end, struct mu_why *why);

/*
 * End like the COMMAND: by the same signal, without a core file, or with its
 * exit status; or, if
 * something was found or not checked, with that of enum mu_exit.
 */
int mu_command_pass_on(
    const struct mu_cli_options *options, const struct mu_command_end *end);

#endif

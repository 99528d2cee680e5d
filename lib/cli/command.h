/*
 * A COMMAND is run with the library in it.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_COMMAND_H
#define LIB_CLI_COMMAND_H

#include <stdio.h>

#include "lib/cli/cli_options.h"

/* How a COMMAND ended. */
struct mu_command_end {
	int wait_status; /* see wait(2) */
	bool unchecked;  /* and there is no report of it */
};

/*
 * Run options->command and show its reports on OUT: LIVE, as they come, or when
 * it has ended. Signals that others send to this process go on to it.
 *
 * MU_OK: it has ended, as END says: with its own status, or with the one that
 * the library gave it (options exitcode and unchecked). Otherwise it was not
 * run.
 */
enum mu_status mu_command_run(const struct mu_cli_options *options, FILE *out,
    bool live, struct mu_command_end *end, struct mu_why *why);

/*
 * End as the COMMAND did: by the same signal, without a core file, or return
 * its exit status. 3 in place of 0 if it was not checked, unless
 * options->unchecked_ok.
 */
int mu_command_pass_on(
    const struct mu_cli_options *options, const struct mu_command_end *end);

#endif

/*
 * A COMMAND is run with the library in it.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_COMMAND_H
#define LIB_CLI_COMMAND_H

#include <stdio.h>

#include "lib/cli/cli_options.h"

/*
 * Run options->command and show its reports on OUT: LIVE, as they come, or when
 * it has ended. Signals that others send to this process go on to it.
 *
 * MU_OK: it has ended, as WAIT_STATUS says (see wait(2)): with its own status,
 * or, if it has leaks, the library's option exitcode. Otherwise it was not run.
 */
enum mu_status mu_command_run(const struct mu_cli_options *options, FILE *out,
    bool live, int *wait_status, struct mu_why *why);

/*
 * End as the COMMAND did: by the same signal, without a core file, or return
 * its exit status.
 */
int mu_command_pass_on(int wait_status);

#endif

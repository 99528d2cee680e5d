/*
 * Check the subject of a command line, write the report, return an exit status.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_ANSWER_H
#define LIB_CLI_ANSWER_H

#include "lib/cli/options.h"
#include "lib/term/output.h"
#include "mu/sys.h"

/* The style of what is written to OUTPUT. */
struct mu_style mu_cli_style(
    const struct mu_output *output, const struct mu_cli_options *options);

/* The check that OPTIONS ask for. */
void mu_cli_fill_check(
    struct mu_check *check, const struct mu_cli_options *options);

/* -p PID, --core FILE, LOOK. Returns the exit status. */
int mu_cli_check(
    const struct mu_cli_options *options, struct mu_output *output);

/* -- COMMAND. Returns the exit status. */
int mu_cli_check_command(
    const struct mu_cli_options *options, struct mu_output *output);

#endif

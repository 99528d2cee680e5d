/*
 * Logs of other machines and of other processes: their frames get files and
 * lines, all else passes as it is.
 *
 * Runs in: the command. One thread.
 */
#ifndef LIB_CLI_FRAME_FILTER_H
#define LIB_CLI_FRAME_FILTER_H

#include <stdio.h>

#include "lib/cli/cli_options.h"
#include "mu/status.h"

/*
 * From options->log or standard input to OUT, whole lines as they come. What it
 * cannot do is told by WHY.
 */
enum mu_status mu_frame_filter(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why);

#endif

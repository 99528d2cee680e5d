/*
 * Logs of other machines and of other processes: their frames get files and
 * lines, all else passes as it is.
 *
 * One thread.
 */
#ifndef LIB_CLI_FRAME_FILTER_H
#define LIB_CLI_FRAME_FILTER_H

#include <stdio.h>

#include "lib/cli/options.h"
#include "mu/status.h"

/*
 * Copy options->log or standard input to OUT, in whole lines as they come. WHY
 * says what failed.
 */
enum mu_status mu_frame_filter(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why);

#endif

/*
 * Add files and lines to the frames in logs of other machines and processes;
 * other text is copied unchanged.
 *
 * One thread.
 */
#ifndef LIB_CLI_FRAME_FILTER_H
#define LIB_CLI_FRAME_FILTER_H

#include <stdio.h>

#include "lib/cli/options.h"
#include "mu/status.h"

/*
 * Copy options->log or standard input to OUT, line by line as it arrives. On
 * failure WHY has the reason.
 */
enum mu_status mu_frame_filter(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why);

#endif

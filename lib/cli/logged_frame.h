/*
 * A frame in a log of another machine or process becomes one with file and
 * line.
 *
 * One thread.
 */
#ifndef LIB_CLI_LOGGED_FRAME_H
#define LIB_CLI_LOGGED_FRAME_H

#include <stdio.h>

#include "lib/symbolize/helper.h"

/*
 * LINE of LENGTH bytes, with a NUL behind it: a frame as the library and the
 * recorder print it, behind two spaces and whatever loggers put before them. It
 * and the callers that it was put into are written. False: LINE is none, or
 * nothing is known of it.
 */
bool mu_logged_frame(FILE *out, struct mu_symbol_helper *helper,
    const char *line, size_t length);

#endif

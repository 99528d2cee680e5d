/*
 * Add file and line to a frame in a log of another machine or process.
 *
 * One thread.
 */
#ifndef LIB_CLI_LOGGED_FRAME_H
#define LIB_CLI_LOGGED_FRAME_H

#include <stdio.h>

#include "lib/symbolize/helper.h"

/*
 * LINE, LENGTH bytes and a NUL, is a frame as the library and the recorder
 * print it: two spaces, after any prefix of a logger. Writes it and the callers
 * into which it was inlined. Returns false if LINE is not a frame or nothing is
 * known of it.
 */
bool mu_logged_frame(FILE *out, struct mu_symbol_helper *helper,
    const char *line, size_t length);

#endif

/*
 * The library's report becomes the command's, line by line: frames get files
 * and lines, and the way to them is said in the words of the command.
 *
 * One thread.
 */
#ifndef LIB_WRITERS_REPORT_LINES_H
#define LIB_WRITERS_REPORT_LINES_H

#include <stdio.h>

#include "lib/symbolize/helper.h"

/*
 * A frame as the library and the recorder print it, behind two spaces and
 * whatever loggers put before them: it and the callers that it was put into are
 * written. False: LINE is none, or nothing is known of it.
 */
bool mu_report_line_frame(FILE *out, struct mu_symbol_helper *helper,
    const char *line, size_t length);

/*
 * LINE of LENGTH bytes, which ends with its newline, or not, if it is the last
 * one. There is a NUL behind it.
 */
void mu_report_line(FILE *out, struct mu_symbol_helper *helper,
    const char *line, size_t length);

#endif

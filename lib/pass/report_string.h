/*
 * A report as a string of the program's malloc.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_REPORT_STRING_H
#define LIB_PASS_REPORT_STRING_H

#include "lib/writers/writer.h"

/*
 * What WRITER makes of REPORT, with files and lines if the option symbolize is
 * set. free() it; NULL if malloc fails.
 */
char *mu_report_string(const struct mu_writer *writer, struct mu_report *report,
    bool log_contents);

#endif

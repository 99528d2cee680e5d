/*
 * The answer in words: what was looked at, what its heap is used for, and the
 * library's report with names.
 */
#ifndef LIB_WRITERS_TEXT_REPORT_H
#define LIB_WRITERS_TEXT_REPORT_H

#include "lib/writers/writer.h"

/*
 * Strings of the subject are made safe for a terminal. A heap that was not
 * judged gives "Not checked" and why. True.
 */
bool mu_text_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

/* "not checked: NAME: cause; cure", no newline, safe for a terminal. */
void mu_text_report_failure(
    const struct mu_out *out, const struct mu_report *report);

#endif

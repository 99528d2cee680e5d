/*
 * The report as text: what was checked, what its heap is used for, and the
 * library's report with names.
 */
#ifndef LIB_WRITERS_TEXT_REPORT_H
#define LIB_WRITERS_TEXT_REPORT_H

#include "lib/writers/writer.h"

/*
 * Strings of the subject are made safe for a terminal. If the heap was not
 * checked, prints "Not checked" and why. Returns true.
 */
bool mu_text_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

/* "not checked: NAME: cause; cure", no newline, safe for a terminal. */
void mu_text_report_failure(
    const struct mu_out *out, const struct mu_report *report);

#endif

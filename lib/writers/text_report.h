/*
 * The answer in words: what was looked at, what its heap is used for, and the
 * library's report with names.
 */
#ifndef LIB_WRITERS_TEXT_REPORT_H
#define LIB_WRITERS_TEXT_REPORT_H

#include <stdio.h>

#include "lib/term/names.h"
#include "lib/term/style.h"
#include "lib/writers/answer.h"

struct mu_text_report {
	bool contents; /* show the first bytes of each block */
	struct mu_names names;
	struct mu_style style;
};

/*
 * Strings of the subject are made safe for a terminal. A heap that was not
 * judged gives "Not checked" and why.
 */
void mu_text_report(FILE *out, const struct mu_text_report *report,
    const struct mu_answer *answer);

/* "not checked: NAME: reason; cure", no newline, safe for a terminal. */
void mu_text_report_failure(
    FILE *out, const struct UnreachableMemoryInfo *info);

#endif

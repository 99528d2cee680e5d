/*
 * The answer for programs: one JSON object, as
 * lib/writers/memunreachable-report.schema.json describes it.
 */
#ifndef LIB_WRITERS_JSON_REPORT_H
#define LIB_WRITERS_JSON_REPORT_H

#include <stdbool.h>

#include "lib/writers/writer.h"

#define MU_JSON_SCHEMA 1 /* a key that is taken away or changed: one more */

/*
 * Contents are in hex. Sizes are bytes, times
 * nanoseconds; addresses are strings, as a number in JSON is a double for many
 * who read it. The figures of a heap that was not judged are null, not 0. A
 * byte of a name that is no UTF-8 is U+FFFD. All of it is ASCII: other
 * characters are \u escapes. False: no memory; part of it may be in OUT.
 */
bool mu_json_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

#endif

/*
 * The report for programs: one JSON object, described by
 * lib/writers/memunreachable-report.schema.json.
 */
#ifndef LIB_WRITERS_JSON_REPORT_H
#define LIB_WRITERS_JSON_REPORT_H

#include <stdbool.h>

#include "lib/writers/writer.h"

#define MU_JSON_SCHEMA 1 /* incremented when a key is removed or changed */

/*
 * Contents are in hex, sizes in bytes, times in nanoseconds; addresses are
 * strings, since many JSON readers store numbers as doubles. The figures of a
 * heap that was not checked are null, not 0. Each byte of invalid UTF-8 in a
 * name is U+FFFD. Output is ASCII: other characters are \u escapes. Returns
 * false without memory; OUT may have a part of the report.
 */
bool mu_json_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

#endif

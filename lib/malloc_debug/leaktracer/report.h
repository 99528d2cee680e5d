/*
 * LeakTracer's report: the first line, the module table, one line for each
 * record.
 *
 * Runs in: the original, any thread that is not inside malloc.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_REPORT_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/malloc_debug/leaktracer/reach.h"
#include "lib/malloc_debug/leaktracer/rows.h"

/* Called without any lock held. Must return. */
typedef void leaktracer_sink(void *ctx, const char *text, size_t length);

struct leaktracer_report {
	struct leaktracer_reach reach;
	struct leaktracer_rows rows; /* the records to report */
};

/* UNREACHABLE: records of unreachable blocks only. */
void leaktracer_report_begin(
    struct leaktracer_report *report, bool unreachable);
void leaktracer_report_print(
    const struct leaktracer_report *report, leaktracer_sink *sink, void *ctx);
void leaktracer_report_end(struct leaktracer_report *report);

/*
 * Write to the file NAME, which is created (0600) or overwritten. An error is
 * reported on stderr.
 */
bool leaktracer_report_write(
    const struct leaktracer_report *report, const char *name);

#endif

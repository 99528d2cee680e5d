/*
 * A series as bars in a line of text: "▁▂▃▅▆█".
 *
 * Pure.
 */
#ifndef LIB_WATCH_SPARK_H
#define LIB_WATCH_SPARK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/watch/verdict.h"

#define MU_SPARK_MOST 40 /* columns */

struct mu_spark {
	char text[MU_SPARK_MOST * 3 + 1]; /* UTF-8 */
};

/*
 * The COUNT VALUES in as many columns, from the least of them to the most; of
 * more than COLUMNS the last ones of as many equal parts.
 */
struct mu_spark mu_spark(const uint64_t *values, size_t count, size_t columns);

/* A line for each total, and for each group of RESULT that grows. */
void mu_spark_lines(const struct mu_out *out, const struct mu_series *series,
    const struct mu_watch_result *result);

#endif

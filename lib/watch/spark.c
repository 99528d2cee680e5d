#include "lib/watch/spark.h"

#include <string.h>

#include "lib/term/human.h"

#define LEVELS 8

static uint64_t
value_at(const uint64_t *values, size_t count, size_t columns, size_t column)
{
	return values[(column + 1) * count / columns - 1];
}

struct mu_spark
mu_spark(const uint64_t *values, size_t count, size_t columns)
{
	static const char bars[LEVELS][4] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇",
		"█" };
	struct mu_spark spark = { "" };
	uint64_t least = UINT64_MAX, most = 0, value;
	size_t i, level;

	if (columns > count)
		columns = count;
	if (columns > MU_SPARK_MOST)
		columns = MU_SPARK_MOST;
	for (i = 0; i < columns; i++) {
		value = value_at(values, count, columns, i);
		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	for (i = 0; i < columns; i++) {
		value = value_at(values, count, columns, i) - least;
		level = most == least
		    ? 0
		    : (size_t)((double)value / (double)(most - least) *
			      (LEVELS - 1) +
			  .5);
		memcpy(spark.text + i * 3, bars[level], 3);
	}
	return spark;
}

static void
put_line(const struct mu_out *out, const struct mu_series *series,
    const char *kind, const char *name, const uint64_t *values)
{
	uint64_t first = values[0], last = values[series->count - 1];

	mu_put(out, "  %-9s  %10s", kind, mu_human_bytes(first).text);
	mu_put(out, " %s %s", mu_spark(values, series->count, 24).text,
	    mu_human_bytes(last).text);
	if (name != NULL) {
		mu_put(out, "  ");
		mu_put_safe(out, name);
	}
	mu_put(out, "\n");
}

void
mu_spark_lines(const struct mu_out *out, const struct mu_series *series,
    const struct mu_watch_result *result)
{
	static const struct {
		enum mu_heap_total total;
		const char *word;
	} totals[] = {
		{ MU_HEAP_LIVE, "in use" },
		{ MU_HEAP_FREE, "held free" },
		{ MU_HEAP_LOST, "lost" },
	};
	const struct mu_watch_growing *growing;
	const struct mu_series_line *line;
	size_t i;

	if (series->count < 2)
		return;
	for (i = 0; i < sizeof(totals) / sizeof(*totals); i++)
		put_line(out, series, totals[i].word, NULL,
		    series->totals[totals[i].total]);
	for (i = 0; i < result->num_growing; i++) {
		growing = &result->growing[i];
		line = mu_series_find(series, growing->kind, growing->name);
		if (line != NULL)
			put_line(out, series, mu_watch_kind_name(line->kind),
			    line->name, line->values);
	}
}

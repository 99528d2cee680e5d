/*
 * A watch as lines: for people, as JSON objects, as CSV, and for Prometheus.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_LINES_H
#define LIB_WATCH_LINES_H

#include <stdio.h>

#include "lib/watch/rounds.h"
#include "lib/watch/verdict.h"
#include "mu/status.h"

/* The names of the columns, and one line of them; BARS: with those of a series.
 */
void mu_watch_text_head(const struct mu_out *out, bool bars);
void mu_watch_text_look(const struct mu_out *out,
    const struct mu_watch_look *look, const struct mu_series *bars);

/* A line for each group of SERIES that has not changed for long. */
void mu_watch_text_stale(
    const struct mu_out *out, const struct mu_series *series);

/*
 * An object of a look, for json_decref(); NULL without memory. NEXT_NS: how
 * long until the next one.
 */
json_t *mu_watch_json_look(const struct mu_watch_look *look, uint64_t next_ns);

/* ROUNDS is NULL if there were none. */
json_t *mu_watch_json_verdict(const struct mu_watch_result *result,
    const struct mu_series *series, const struct mu_rounds *rounds,
    const struct mu_watch_look *last);

/* LOOK in one line without the time, for a log. */
void mu_watch_text_message(
    const struct mu_out *out, const struct mu_watch_look *look);

/* RFC 4180, but lines end with a newline. */
void mu_watch_csv_head(const struct mu_out *out);
void mu_watch_csv_look(
    const struct mu_out *out, const struct mu_watch_look *look);

/*
 * Prometheus' text format: what a textfile collector reads. What the look does
 * not know is left out.
 */
void mu_watch_prometheus(
    const struct mu_out *out, const struct mu_watch_look *look);

#endif

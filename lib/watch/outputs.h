/*
 * Where the lines of a watch go: a stream, the journal, and the files of --csv
 * and --prometheus.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_OUTPUTS_H
#define LIB_WATCH_OUTPUTS_H

#include "lib/watch/lines.h"
#include "lib/watch/page.h"

struct mu_watch_outputs {
	FILE *lines;            /* standard output or error, or FILE */
	FILE *file;             /* of -o; NULL: not given */
	FILE *csv;              /* NULL: not wanted */
	const char *prometheus; /* NULL: not wanted */
	const char *html;       /* the same */
	bool json, syslog;
	size_t columns; /* of the terminal; 0: the lines go to none */
	int day;        /* of the latest line, of the month */
};

/*
 * Open PATH and CSV (NULL: not wanted), whose old contents are dropped, for
 * the lines and the table; see include/mu/report_file.h. Without PATH the lines
 * go to LINES. Close in any case.
 */
enum mu_status mu_watch_outputs_open(struct mu_watch_outputs *outputs,
    FILE *lines, const char *path, const char *csv, struct mu_why *why);
void mu_watch_outputs_close(struct mu_watch_outputs *outputs);

/* Returns false, with the reason in WHY, if it could not be written. */
bool mu_watch_outputs_look(struct mu_watch_outputs *outputs,
    const struct mu_watch_look *look, const struct mu_series *series,
    uint64_t next_ns, struct mu_why *why);
/* Replace the page, if one is wanted. */
bool mu_watch_outputs_page(const struct mu_watch_outputs *outputs,
    const struct mu_watch_page *page, struct mu_why *why);
bool mu_watch_outputs_verdict(struct mu_watch_outputs *outputs,
    const struct mu_watch_result *result, const struct mu_series *series,
    const struct mu_rounds *rounds, const struct mu_watch_look *last,
    struct mu_why *why);

#endif

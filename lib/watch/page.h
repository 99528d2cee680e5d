/*
 * A watch as a page: areas of what is lost, in use by group and held free, and
 * the curve of each group. It needs no network.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_PAGE_H
#define LIB_WATCH_PAGE_H

#include <stdio.h>

#include "lib/watch/verdict.h"

struct mu_watch_page {
	const struct mu_series *series;
	const struct mu_watch_result *result; /* the verdict so far */
	const struct mu_watch_look *last;
	size_t restarts;
	uint64_t next_ns; /* until the page changes; 0: it is the last one */
};

/* Write it to OUT. */
void mu_watch_page(FILE *out, const struct mu_watch_page *page);

#endif

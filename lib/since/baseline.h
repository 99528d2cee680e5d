/*
 * --baseline, --write-baseline: the groups of lost blocks that are known, so
 * that only others fail. The file has a line for each, sorted: its key
 * (lib/writers/group_key.h).
 *
 * Runs in: the command.
 */
#ifndef LIB_SINCE_BASELINE_H
#define LIB_SINCE_BASELINE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/writers/report.h"
#include "mu/status.h"

struct mu_keys {
	char **items;
	size_t count, max;
};

struct mu_baseline {
	const char *file;           /* NULL: nothing is known */
	struct mu_keys known, lost; /* of the file; of all reports */
	int error;                  /* an errno; E2BIG: groups were cut */
};

/* FILE may be NULL. MU_ERR_ARGUMENT with WHY. Close in any case. */
enum mu_status mu_baseline_open(
    struct mu_baseline *baseline, const char *file, struct mu_why *why);

/*
 * Note the groups of REPORT, and which are known. If all are, its exit status
 * is that of a report without leaks.
 */
void mu_baseline_judge(struct mu_baseline *baseline, struct mu_report *report);

/* True if all that REPORT has lost is known. */
bool mu_baseline_knows_all(const struct mu_report *report);

/* Name known groups that no report had, a line each. */
void mu_baseline_gone(const struct mu_baseline *baseline, FILE *out);

/* Write the groups of all reports to FD. 0, or an errno and FD is empty. */
int mu_baseline_write(struct mu_baseline *baseline, int fd);

/* Accepts one that could not be opened. */
void mu_baseline_close(struct mu_baseline *baseline);

#endif

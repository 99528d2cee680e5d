/*
 * The reports beside the one of --format: --report=FORMAT:FILE, any number.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_REPORTS_H
#define LIB_CLI_REPORTS_H

#include "lib/term/new_file.h"
#include "lib/writers/document.h"

#define MU_CLI_REPORTS 8 /* at most */

struct mu_cli_report {
	const char *path; /* "-": standard output */
	struct mu_new_file file;
	int fd; /* where it is written; -1: not open */
	struct mu_document document;
	bool failed;
};

struct mu_cli_reports {
	struct mu_cli_report items[MU_CLI_REPORTS];
	size_t count;
};

/* Open their files, with our rights. Close in any case. */
enum mu_status mu_cli_reports_open(
    struct mu_cli_reports *reports, struct mu_why *why);

/* Add REPORT to each. One that cannot be written is empty then. */
void mu_cli_reports_put(struct mu_cli_reports *reports,
    const struct mu_report *report, const struct mu_shown *shown);

/*
 * Write the ends of all. Call once, where mu_cli_reports_put() was called.
 * Returns false if one could not be written, which was told.
 */
bool mu_cli_reports_end(struct mu_cli_reports *reports);

/* Files that are not in their places are removed. */
void mu_cli_reports_close(struct mu_cli_reports *reports);

#endif

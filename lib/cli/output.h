/*
 * Where the report goes: standard output, or the file of -o. It is put together
 * in memory, and an earlier report is lost only when there is a new one.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_OUTPUT_H
#define LIB_CLI_OUTPUT_H

#include <stdio.h>

#include "mu/status.h"

struct mu_output {
	FILE *text;       /* to write to; NULL: not open */
	const char *path; /* NULL: standard output */
	int fd;
	char *bytes; /* open_memstream()'s */
	size_t length;
};

/*
 * Open the file at PATH, or standard output if it is NULL or "-". Which files
 * are taken is in lib/report_file.h. Before the work, so that a bad name costs
 * nothing.
 */
enum mu_status mu_output_open(
    struct mu_output *output, const char *path, struct mu_why *why);

/* All that was written to TEXT becomes the file's contents. */
enum mu_status mu_output_commit(struct mu_output *output, struct mu_why *why);

/* Without a commit the file is as it was; one that was made stays, empty. */
void mu_output_close(struct mu_output *output);

#endif

/*
 * The destination of the report: standard output, or the file of -o. The first
 * MU_OUTPUT_KEPT bytes are kept in memory, so that a short report replaces an
 * earlier one only when it is complete; a longer one is written as it comes.
 *
 * Runs in: the command.
 */
#ifndef LIB_TERM_OUTPUT_H
#define LIB_TERM_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "mu/status.h"

#define MU_OUTPUT_KEPT ((size_t)1 << 20)

/*
 * Flush TEXT. False if this or an earlier write failed: once its buffer was
 * full stdio has written before, and only ferror() still says so.
 */
bool mu_output_flush(FILE *text);

/* Must stay where it is while TEXT is open. */
struct mu_output {
	FILE *text;       /* stream to write to; NULL: not open */
	const char *path; /* NULL: standard output */
	int fd;
	char *kept;    /* bytes that are not written yet */
	size_t most;   /* of these at any time */
	size_t length; /* number of bytes in KEPT */
	bool begun;    /* the file's earlier contents are gone */
	int error;     /* errno of the first failed write; or 0 */
};

/*
 * Open the file at PATH, or standard output if that is NULL or "-".
 * include/mu/report_file.h says which files are accepted. Call before the work,
 * so that a wrong name costs no time.
 */
enum mu_status mu_output_open(
    struct mu_output *output, const char *path, struct mu_why *why);

/* Make what was written to TEXT the contents of the file. */
enum mu_status mu_output_commit(struct mu_output *output, struct mu_why *why);

/*
 * Without a commit, an existing file keeps its contents if no more than
 * MU_OUTPUT_KEPT bytes were written to TEXT; a file that was created stays.
 */
void mu_output_close(struct mu_output *output);

#endif

/*
 * Where the report goes: standard output, or the file of -o. The first
 * MU_OUTPUT_KEPT bytes are kept in memory, so that a short report replaces an
 * earlier one only when it is complete; a longer one is written as it comes.
 */
#ifndef LIB_TERM_OUTPUT_H
#define LIB_TERM_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "mu/status.h"

#define MU_OUTPUT_KEPT ((size_t)1 << 20)

/* Must stay where it is while TEXT is open. */
struct mu_output {
	FILE *text;       /* to write to; NULL: not open */
	const char *path; /* NULL: standard output */
	int fd;
	char *kept;    /* what is not written yet */
	size_t length; /* of KEPT */
	bool begun;    /* the file has lost its earlier contents */
	int error;     /* errno of the write that failed; 0: none did */
};

/*
 * Open the file at PATH, or standard output if it is NULL or "-". Which files
 * are taken is in include/mu/report_file.h. Before the work, so that a bad name
 * costs nothing.
 */
enum mu_status mu_output_open(
    struct mu_output *output, const char *path, struct mu_why *why);

/* All that was written to TEXT becomes the file's contents. */
enum mu_status mu_output_commit(struct mu_output *output, struct mu_why *why);

/*
 * Without a commit the file is as it was if no more than MU_OUTPUT_KEPT bytes
 * were written to TEXT; one that was made stays.
 */
void mu_output_close(struct mu_output *output);

#endif

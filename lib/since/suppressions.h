/*
 * --suppressions: lost blocks that do not fail, in LeakSanitizer's syntax and
 * more. A line is KIND:PATTERN, perhaps followed by conditions:
 *
 *	leak:PATTERN		a function, file or module of the stack
 *	function:PATTERN, module:PATTERN, type:PATTERN
 *	size:N, size:N-M	usable bytes of each block
 *	... count=N		no more than N blocks
 *	... until=YYYY-MM-DD	up to that day
 *
 * Entries of Valgrind in braces: lib/since/valgrind_entry.h.
 *
 * A pattern is found anywhere in a name; * stands for anything, ^ for its
 * begin, $ for its end. Lines that begin with # say nothing.
 *
 * Runs in: the command.
 */
#ifndef LIB_SINCE_SUPPRESSIONS_H
#define LIB_SINCE_SUPPRESSIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/since/pattern.h"
#include "lib/writers/report.h"
#include "mu/status.h"

enum mu_suppression_kind {
	MU_SUPPRESS_LEAK,
	MU_SUPPRESS_FUNCTION,
	MU_SUPPRESS_MODULE,
	MU_SUPPRESS_TYPE,
	MU_SUPPRESS_SIZE,
	MU_SUPPRESS_VALGRIND, /* in braces */
	MU_SUPPRESS_KINDS
};

struct mu_suppression {
	enum mu_suppression_kind kind;
	char *pattern; /* or sizes, as they were written; or a name */
	char *callers; /* VALGRIND */
	size_t min_size, max_size;
	size_t cap;          /* blocks; 0: none */
	char until[11];      /* "2026-12-31"; "": for ever */
	size_t count, bytes; /* blocks that it suppressed */
	bool expired, capped;
};

struct mu_suppressions {
	const char *file; /* NULL: none */
	struct mu_suppression *items;
	size_t count, max;

	/* Keep lists: what they do not match is suppressed. NULL: none. */
	const char *only_module, *only_function;
	size_t left_out, left_out_bytes; /* blocks */

	bool stacks; /* a group had one */
	FILE *made;  /* --write-suppressions; NULL: no */
	int error;   /* an errno; E2BIG: groups were cut */
};

/*
 * Read FILE (NULL: none). TODAY is a date as in the file. MU_ERR_ARGUMENT with
 * WHY. Close in any case.
 */
enum mu_status mu_suppressions_open(struct mu_suppressions *suppressions,
    const char *file, const char *today, struct mu_why *why);

/*
 * Note which groups of REPORT are suppressed. Write an entry for each of the
 * others to suppressions->made.
 */
void mu_suppressions_judge(
    struct mu_suppressions *suppressions, struct mu_report *report);

/* What each has suppressed, and which were not used, and why. */
void mu_suppressions_sum(const struct mu_suppressions *suppressions, FILE *out);

/* Accepts one that could not be opened. */
void mu_suppressions_close(struct mu_suppressions *suppressions);

#endif

/*
 * Add files and lines to reports, in a separate process: the command
 * memunreachable, run as "memunreachable --symbolize", copies the text. So no
 * code that reads debug information is loaded into the program.
 *
 * Linked into the library and into the recorder. Runs in: original. Uses no
 * malloc, no errno, no libc lock, except when opening.
 */
#ifndef LIB_REPORT_SYMBOLIZER_H
#define LIB_REPORT_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero: reports are not changed. */
struct mu_symbolizer {
	const char *path;   /* of the command; NULL: none */
	char **environment; /* for the command, as it was at the start */
	int gave_up;        /* it missed its deadline and is not used again */
	int told;           /* a failure was reported */
};

/* The resulting text; a mapping. */
struct mu_symbolized {
	char *text;
	size_t length, size;
	const char *why; /* why there is none, to be reported once; or NULL */
};

/*
 * Called at the start, when one thread runs: find the command next to the
 * library that this is linked into, in ../bin or ../../bin from there, or by
 * PATH. Returns false if there is none, or no memory.
 */
bool mu_symbolizer_open(struct mu_symbolizer *symbolizer);

/*
 * Add files and lines to TEXT of LENGTH bytes; release the result. Takes 10
 * seconds at most. Returns false, with nothing to release, if TEXT itself
 * should be shown.
 */
bool mu_symbolizer_run(struct mu_symbolizer *symbolizer, const char *text,
    size_t length, struct mu_symbolized *out);

/* Free OUT. Accepts the zero value. */
void mu_symbolized_release(struct mu_symbolized *out);

#endif

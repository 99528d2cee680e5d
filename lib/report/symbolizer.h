/*
 * Add files and lines to reports, in a separate process: the command
 * memunreachable, as "memunreachable --symbolize", copies the text. So no code
 * that reads debug information is loaded into the program.
 *
 * Linked into the library and into the recorder. Runs in: original. Uses no
 * malloc, no errno, no libc lock, but for the opening.
 */
#ifndef LIB_REPORT_SYMBOLIZER_H
#define LIB_REPORT_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero: reports stay as they are. */
struct mu_symbolizer {
	const char *path;   /* of the command; NULL: none */
	char **environment; /* for it, as it was at the start */
	int gave_up;        /* it did not end in time, and is not asked again */
	int told;           /* a failure was told of */
};

/* Text that was made; mapped. */
struct mu_symbolized {
	char *text;
	size_t length, size;
	const char *why; /* there is none: to be told once, or NULL */
};

/*
 * At the start, when one thread runs: find the command beside the library that
 * this is linked into, in ../bin or ../../bin from there, or by PATH. False:
 * there is none, or no memory.
 */
bool mu_symbolizer_open(struct mu_symbolizer *symbolizer);

/*
 * TEXT of LENGTH bytes with files and lines; to be released. Takes 10 seconds
 * at most. False: show TEXT itself; nothing is to be released.
 */
bool mu_symbolizer_run(struct mu_symbolizer *symbolizer, const char *text,
    size_t length, struct mu_symbolized *out);

void mu_symbolized_release(struct mu_symbolized *out);

#endif

/*
 * A text file that is written through a small buffer, without stdio.
 *
 * A file that is made appears under its name as a whole: it is written beside
 * and renamed. Runs in: the original, any thread. Uses no malloc.
 */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct output_file {
	int fd;
	int error;       /* the first, an errno value; 0 = none */
	bool ours;       /* to be closed */
	const char *why; /* NAME takes no report, in words; NULL = it may */
	size_t used;
	/* What is written beside NAME, and where it is in the end if not
	 * there; "" = it is written where it is. */
	char beside[PATH_MAX];
	char buffer[4096];
};

/*
 * Make a file for NAME, mode 0600. 0 or an errno value. A FIFO and a device
 * are written to. Where NAME is not for a report (see lib/report_file.h) the
 * file becomes NAME.1, or the next number that is free, up to 9.
 */
int output_file_make(struct output_file *out, const char *name);
void output_file_given(struct output_file *out, int fd);

/* At most 1023 bytes at a time. */
void output_file_print(struct output_file *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_file_write(
    struct output_file *out, const char *bytes, size_t length);

/*
 * Write what is left; one that was made is closed and gets its NAME, or is
 * removed when anything failed. Where it is, if it is not NAME, is said on
 * stderr. 0 or the first error.
 */
int output_file_end(struct output_file *out, const char *name);

#endif

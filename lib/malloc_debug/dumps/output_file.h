/*
 * Write a text file through a small buffer, without stdio.
 *
 * A new file appears under its name only when it is complete: it is written
 * without a name where the file system and /proc allow that, else beside, and
 * renamed. Uses no malloc.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_OUTPUT_FILE_H
#define LIB_MALLOC_DEBUG_DUMPS_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct output_file {
	int fd;
	int error;       /* the first error, an errno value; 0 = none */
	bool ours;       /* close it at the end */
	bool unnamed;    /* it has no name yet */
	const char *why; /* why NAME cannot be used; or NULL */
	size_t used;
	/*
	 * Name of the temporary file next to NAME, and its final name if that
	 * is not NAME; "" = NAME is written directly.
	 */
	char beside[PATH_MAX];
	char buffer[4096];
};

/*
 * Create a file for NAME, mode 0600. Returns 0 or an errno value. A FIFO and a
 * device are written to directly. If NAME cannot be used (see
 * include/mu/report_file.h) the file becomes NAME.1, or the next free number up
 * to 9.
 */
int output_file_make(struct output_file *out, const char *name);
void output_file_given(struct output_file *out, int fd);

/* At most 1023 bytes at a time. */
void output_file_print(struct output_file *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_file_write(
    struct output_file *out, const char *bytes, size_t length);

/*
 * Flush the buffer. A created file is closed and gets its NAME, or is removed
 * after an error. If its name is not NAME, stderr says so. Returns 0 or the
 * first error.
 */
int output_file_end(struct output_file *out, const char *name);

#endif

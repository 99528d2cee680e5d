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
#include <sys/types.h>

struct output_file {
	int fd;
	int error; /* the first, an errno value; 0 = none */
	bool ours; /* to be closed */
	size_t used;
	char beside[PATH_MAX]; /* "" = it is written where it is */
	char buffer[4096];
};

/*
 * 0 or an errno value; ELOOP if NAME is a symbolic link. What is no regular
 * file is written to.
 */
int output_file_make(struct output_file *out, const char *name, mode_t mode);
void output_file_given(struct output_file *out, int fd);

/* At most 1023 bytes at a time. */
void output_file_print(struct output_file *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_file_write(
    struct output_file *out, const char *bytes, size_t length);

/*
 * Write what is left; one that was made is closed and gets its NAME, or is
 * removed when anything failed. 0 or the first error.
 */
int output_file_end(struct output_file *out, const char *name);

/* In words, of errors that files have; strerror() is libc's, which locks. */
const char *output_file_reason(int error);

#endif

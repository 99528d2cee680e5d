/*
 * A long file of /proc, a buffer of whole lines at a time.
 */
#ifndef HEAPWALK_SUBJECT_LINES_H
#define HEAPWALK_SUBJECT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Hand the file PATH to FOUND, whole lines at a time, until it returns true;
 * of a line over 8 KiB only the end. True if FOUND did; false also when the
 * file cannot be read.
 */
bool mu_lines_search(const char *path,
    bool (*found)(void *ctx, const char *lines, size_t length), void *ctx);

#endif

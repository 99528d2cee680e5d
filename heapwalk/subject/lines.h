/*
 * Read a long file of /proc, one buffer of whole lines at a time.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_LINES_H
#define HEAPWALK_SUBJECT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Pass the file PATH to FOUND, whole lines at a time, until it returns true. Of
 * a line over 8 KiB only the end is passed. Returns true if FOUND did; false
 * also if the file cannot be read.
 */
bool mu_lines_search(const char *path,
    bool (*found)(void *ctx, const char *lines, size_t length), void *ctx);

#endif

/* Read files in pieces, for parsing. */
#ifndef LIB_VIEW_FILE_TEXT_H
#define LIB_VIEW_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/status.h"

/*
 * Pass the contents of PATH, a file or a pipe, to TAKE, piece by piece. ENDED
 * says that this is the last piece. TAKE returns how many bytes it has used; it
 * gets the others again, followed by more. One byte after TEXT can be written.
 * It is read, not mapped: truncation of a mapped file would end this process by
 * SIGBUS.
 */
enum mu_status mu_file_pieces_read(const char *path,
    size_t (*take)(void *ctx, char *text, size_t length, bool ended), void *ctx,
    struct mu_why *why);

#endif

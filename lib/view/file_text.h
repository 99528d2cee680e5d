/*
 * Files in memory, whole or piece by piece, to be taken apart there.
 */
#ifndef LIB_VIEW_FILE_TEXT_H
#define LIB_VIEW_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/status.h"

struct mu_file_text {
	char *text; /* LENGTH bytes, and a 0 behind them */
	size_t length;
};

/*
 * Read PATH, a file or a pipe. It is read, not mapped: one that is cut short
 * meanwhile would end us by SIGBUS. TEXT may be released after a failure.
 */
enum mu_status mu_file_text_read(
    struct mu_file_text *text, const char *path, struct mu_why *why);

/*
 * Give what is in PATH, a file or a pipe, to TAKE, a piece after the other. It
 * is told whether all is read (ENDED), and says how many bytes it took; it gets
 * the others again, with more behind them. One byte behind TEXT can be written.
 */
enum mu_status mu_file_pieces_read(const char *path,
    size_t (*take)(void *ctx, char *text, size_t length, bool ended), void *ctx,
    struct mu_why *why);

/* Accepts one that is zero. */
void mu_file_text_release(struct mu_file_text *text);

#endif

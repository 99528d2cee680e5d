/*
 * Lines no longer than a terminal is wide: what is longer continues, further to
 * the right, in the next line.
 *
 * Runs in: the command.
 */
#ifndef LIB_TERM_FOLD_H
#define LIB_TERM_FOLD_H

#include "lib/term/out.h"

#define MU_FOLD_LINE 4096 /* bytes of a line; longer ones are not folded */

/* Must stay where it is while its destination is used. */
struct mu_fold {
	struct mu_out to;
	size_t width; /* columns; 0: lines stay as they are */
	size_t length;
	char line[MU_FOLD_LINE];
};

/* The columns of the terminal FD; 0: it is none, or too narrow to fold for. */
size_t mu_fold_width(int fd);

/* A destination that folds, and writes to FOLD's. */
struct mu_out mu_fold_out(struct mu_fold *fold);

/* Write what is left of a line that has no end. */
void mu_fold_end(struct mu_fold *fold);

#endif

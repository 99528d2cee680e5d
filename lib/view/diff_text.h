/*
 * Print the differences between two dumps.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_DIFF_TEXT_H
#define LIB_VIEW_DIFF_TEXT_H

#include <stdio.h>

#include "lib/term/style.h"
#include "lib/view/diff.h"
#include "lib/view/frames.h"
#include "lib/view/notes.h"

struct mu_diff_view {
	const char *paths[2];
	struct mu_diff *diff;
	const struct mu_frames *frames;
	const struct mu_notes *notes;
	size_t limit; /* entries of either kind */
	struct mu_style style;
};

/*
 * Write VIEW as text to OUT. Write errors are found by mu_output_commit(),
 * changes that were not read by mu_diff_end().
 */
void mu_diff_text(FILE *out, const struct mu_diff_view *view);

#endif

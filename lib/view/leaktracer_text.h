/*
 * Print a report of LeakTracer with names, in the format of its
 * leak-analyze-addr2line.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_LEAKTRACER_TEXT_H
#define LIB_VIEW_LEAKTRACER_TEXT_H

#include <stdio.h>

#include "lib/view/frames.h"
#include "lib/view/leak_groups.h"
#include "lib/view/notes.h"

struct mu_leaktracer_view {
	const char *path;
	const char *program; /* NULL: not known */
	struct mu_leak_groups *groups;
	const struct mu_frames *frames;
	const struct mu_notes *notes;
	size_t limit; /* number of stacks */
};

/*
 * Write VIEW as text to OUT. Write errors are found by mu_output_commit(),
 * groups that were not read by mu_sorter_end().
 */
void mu_leaktracer_text(FILE *out, const struct mu_leaktracer_view *view);

#endif

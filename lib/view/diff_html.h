/*
 * The comparison of two heap dumps as a self-contained page, without network:
 * what grew and what shrank, and the text, which needs no script.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_DIFF_HTML_H
#define LIB_VIEW_DIFF_HTML_H

#include "lib/view/diff_text.h"

/*
 * Write VIEW as one HTML page to OUT. Write errors are found by
 * mu_output_commit(), changes that were not read by mu_diff_end(). Returns
 * false without memory.
 */
bool mu_diff_html(FILE *out, const struct mu_diff_view *view);

#endif

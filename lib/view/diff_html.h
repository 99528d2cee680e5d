/*
 * The comparison of two heap dumps as a self-contained page, without network:
 * what grew and what shrank, and the text, which needs no script.
 *
 * Pure.
 */
#ifndef LIB_VIEW_DIFF_HTML_H
#define LIB_VIEW_DIFF_HTML_H

#include "lib/view/diff_text.h"

/* Write VIEW as one HTML page to OUT. Write errors are found by
 * mu_output_commit(). Returns false without memory. */
bool mu_diff_html(FILE *out, const struct mu_diff_view *view);

#endif

/*
 * A heap dump's trees as a self-contained page, without network, and readable
 * without scripts.
 *
 * Pure.
 */
#ifndef LIB_VIEW_TREE_HTML_H
#define LIB_VIEW_TREE_HTML_H

#include "lib/view/dump_summary.h"

/* Write VIEW as one HTML page to OUT. Write errors are found by
 * mu_output_commit(). */
void mu_tree_html(FILE *out, const struct mu_dump_view *view);

#endif

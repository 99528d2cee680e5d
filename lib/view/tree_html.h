/*
 * A heap dump's trees as one page that needs nothing else: no network, and for
 * reading no script either.
 *
 * Pure.
 */
#ifndef LIB_VIEW_TREE_HTML_H
#define LIB_VIEW_TREE_HTML_H

#include "lib/view/dump_summary.h"

void mu_tree_html(FILE *out, const struct mu_dump_view *view);

#endif

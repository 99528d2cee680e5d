/*
 * A heap dump's trees as a self-contained page, without network, and readable
 * without scripts.
 *
 * Pure.
 */
#ifndef LIB_VIEW_TREE_HTML_H
#define LIB_VIEW_TREE_HTML_H

#include "lib/view/dump_summary.h"

void mu_tree_html(FILE *out, const struct mu_dump_view *view);

#endif

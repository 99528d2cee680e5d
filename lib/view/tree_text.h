/*
 * A heap dump's trees as text.
 *
 * Pure.
 */
#ifndef LIB_VIEW_TREE_TEXT_H
#define LIB_VIEW_TREE_TEXT_H

#include "lib/view/dump_summary.h"

/* Write VIEW as text to OUT. Write errors are found by mu_output_commit(). */
void mu_tree_text(FILE *out, const struct mu_dump_view *view);

#endif

/*
 * A heap dump's trees as a self-contained page, without network, and readable
 * without scripts.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_TREE_HTML_H
#define LIB_VIEW_TREE_HTML_H

#include "lib/view/dump_summary.h"

/*
 * Add RECORD, with numbers for frames, to the ROWS of its section. Returns
 * false without memory.
 */
bool mu_tree_html_add(struct mu_sorter *rows, const struct mu_record *record);

/*
 * Write VIEW as one HTML page to OUT. Write errors are found by
 * mu_output_commit(), rows that were not read by mu_sorter_end().
 */
void mu_tree_html(FILE *out, const struct mu_dump_view *view);

#endif

/*
 * Which words own objects of CPython.
 *
 * An object counts its owners. If blocks have as many references to it, words
 * of variables, stacks and registers own nothing: they are borrowed, or old, as
 * most of CPython's lists of free objects are.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_PYTHON_OWNERS_H
#define LIB_EXPLAIN_PYTHON_OWNERS_H

#include "lib/explain/explaining.h"

/*
 * Take what owns nothing out of EXPLAINING's graph (see python_edges.h), and
 * out of the words that hold blocks unless nothing else leads to a block. A
 * word of MU_HELD_INTERPRETER stands for what was taken and alone leads to a
 * block. MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_python_owners_find(struct mu_explaining *explaining);

#endif

/*
 * Which words own objects of CPython.
 *
 * Before each object that the collector watches are two words (PyGC_Head,
 * Include/internal/pycore_gc.h), which make all of these objects one ring.
 * Followed as references, they make each object hold all others.
 *
 * Letters and digits may look like pointers: they are none. So may the words
 * that malloc gave a tuple beyond its items, and instructions.
 *
 * CPython keeps objects and tables of dictionaries that are free: what these
 * still refer to is not theirs.
 *
 * An object counts its owners. If blocks have as many references to it, words
 * of variables, stacks and registers own nothing: they are borrowed, or old, as
 * most of CPython's lists of free objects are. If objects and their parts have
 * as many, other blocks own nothing, too: up to 3.11 such lists are in a block.
 * The values of attributes have one owner: the object, or its dictionary.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_PYTHON_OWNERS_H
#define LIB_EXPLAIN_PYTHON_OWNERS_H

#include "lib/explain/explaining.h"
#include "lib/types/python_object.h"

/*
 * True if there is a class of CPython at ADDRESS whose objects have BEFORE
 * bytes before them.
 */
bool mu_python_class_find(
    const struct mu_snapshot *snap, uintptr_t address, size_t before);

/*
 * Where the collector's words of BLOCK are; empty: it has none, or it is not
 * proven that it has.
 */
struct mu_range mu_python_links_of(
    const struct mu_explaining *explaining, const struct mu_block *block);

/*
 * Take what owns nothing out of EXPLAINING's graph, and out of the words that
 * hold blocks unless nothing else leads to a block. A word of
 * MU_HELD_INTERPRETER stands for what was taken and alone leads to a block.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_python_owners_find(struct mu_explaining *explaining);

#endif

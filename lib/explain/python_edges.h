/*
 * Edges between blocks of CPython that own nothing.
 *
 * Before each object that the collector watches are two words (PyGC_Head,
 * Include/internal/pycore_gc.h), which make all of these objects one ring.
 * Followed as references, they make each object hold all others.
 *
 * Letters and digits may look like pointers: they are none. So may the words
 * that malloc gave a tuple, a class or a dictionary beyond its end,
 * instructions, and the hashes in a dictionary's table. A weak reference does
 * not own its object.
 *
 * CPython keeps objects and tables of dictionaries that are free: what these
 * still refer to is not theirs. If objects and their parts have as many
 * references to an object as it counts, other blocks own nothing: up to 3.11
 * lists of free objects are in a block. The values of attributes have one
 * owner: the object, or its dictionary.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_PYTHON_EDGES_H
#define LIB_EXPLAIN_PYTHON_EDGES_H

#include "lib/explain/explaining.h"
#include "lib/types/python_object.h"

#define MU_PYTHON_LINK_FLAGS ((uintptr_t)3) /* _PyGC_PREV_... */

/*
 * True if an object of a class of CPython may be BEFORE bytes behind HEAD, the
 * words of a block up to that of its class.
 */
bool mu_python_class_find(
    const struct mu_snapshot *snap, const uintptr_t *head, size_t before);

/*
 * Where the collector's words of BLOCK are, links first; empty: it has none, or
 * it is not proven that it has.
 */
struct mu_range mu_python_links_of(
    const struct mu_explaining *explaining, const struct mu_block *block);

/* What such an object refers to does not count it. */
bool mu_python_is_weak(const struct mu_explaining *explaining, uint32_t number);

/* True if block NUMBER is the table of a dictionary, whose owner is another. */
bool mu_python_is_table(
    const struct mu_explaining *explaining, uint32_t number);

/*
 * How many owners block NUMBER has, by its own count: an object, or the table
 * of a dictionary. 0: it has none.
 */
uintptr_t mu_python_uses_of(
    const struct mu_explaining *explaining, uint32_t number);

/*
 * Take the edges that own nothing out of EXPLAINING's graph, all of which are
 * stored. CUT has a bit for each block: it is set if an edge to that is gone.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_python_edges_cut(
    struct mu_explaining *explaining, uint64_t *cut);

/* Block NUMBER is a free table: take away its edges to what is in use. */
void mu_python_edges_of_free(
    struct mu_explaining *explaining, uint64_t *cut, uint32_t number);

#endif

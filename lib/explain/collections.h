/*
 * What the variables of the program hold, by the path from them: the sessions
 * of a cache, "cache.sessions", and how many there are.
 *
 * A block is of the first path that leads to it. Elements that lead to others
 * of their type, as the nodes of a list or a tree do, are of one path; so are
 * those in a row, or those that a row of pointers leads to. Only what is
 * declared is followed, so a stale word somewhere else changes nothing.
 */
#ifndef LIB_EXPLAIN_COLLECTIONS_H
#define LIB_EXPLAIN_COLLECTIONS_H

#include "lib/explain/explaining.h"

/*
 * Fill explaining->out->collections, when the types are known.
 * MU_ERR_NO_MEMORY, MU_ERR_TIMEOUT: there are none.
 */
enum mu_status mu_collections_explain(struct mu_explaining *explaining);

#endif

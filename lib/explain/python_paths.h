/*
 * What the modules of a program of CPython hold, by the path from them:
 * "__main__.cache.sessions", with its elements and bytes.
 *
 * A container is of the shortest path that leads to it; of several, one from
 * __main__ comes first. Elements of a list, and of a dictionary with more than
 * a few keys, are of one path: "__main__.sessions[].orders".
 *
 * Of a large container only some elements are looked at, in equal distances,
 * and stand for the others: numbers of elements are exact, bytes are estimated.
 */
#ifndef LIB_EXPLAIN_PYTHON_PATHS_H
#define LIB_EXPLAIN_PYTHON_PATHS_H

#include "lib/explain/explaining.h"

/* What modules hold; zero if the subject is no program of CPython. */
struct mu_python_held {
	size_t bytes;              /* in all */
	struct mu_range variables; /* which lead to it: CPython's */
};

/*
 * Add to the *COUNT collections of ALL, which has room for MOST, the containers
 * of EXPLAINING's subject. HELD needs no initialisation. MU_ERR_NO_MEMORY,
 * MU_ERR_TIMEOUT: nothing was added.
 */
enum mu_status mu_python_paths_add(struct mu_explaining *explaining,
    struct mu_collection *all, size_t *count, size_t most,
    struct mu_python_held *held);

#endif

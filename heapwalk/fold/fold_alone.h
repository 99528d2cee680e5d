/*
 * Make an entry of each unreachable block without folding, if there is not
 * enough memory for that (some 60 bytes a block).
 */
#ifndef HEAPWALK_FOLD_FOLD_ALONE_H
#define HEAPWALK_FOLD_FOLD_ALONE_H

#include "heapwalk/fold/fold.h"

/*
 * The LIMIT largest blocks, or as many as there is memory for in GRAPH's arena,
 * as entries of LEAKS, which has its totals, with CONTENTS or without. Nothing
 * is said of what they refer to.
 */
void mu_fold_alone(struct mu_leaks *leaks, const struct mu_graph *graph,
    size_t limit, bool contents);

#endif

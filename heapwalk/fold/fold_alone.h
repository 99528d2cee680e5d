/*
 * Make an entry of each unreachable block without folding, if there is not
 * enough memory to fold (some 60 bytes per block).
 */
#ifndef HEAPWALK_FOLD_FOLD_ALONE_H
#define HEAPWALK_FOLD_FOLD_ALONE_H

#include "heapwalk/fold/fold.h"

/*
 * Add the LIMIT largest blocks, or as many as fit into GRAPH's arena, to LEAKS,
 * whose totals are set; with CONTENTS or without. The entries do not say what
 * the blocks refer to.
 */
void mu_fold_alone(struct mu_leaks *leaks, const struct mu_graph *graph,
    size_t limit, bool contents);

#endif

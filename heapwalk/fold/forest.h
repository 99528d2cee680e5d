/*
 * Trees where at most one edge leads to each node, as in lists, trees and
 * rings: no edge joins two of them. Each replaces the cells of its nodes, so
 * that this takes no other table of nodes.
 */
#ifndef HEAPWALK_FOLD_FOREST_H
#define HEAPWALK_FOLD_FOREST_H

#include "heapwalk/fold/trees.h"
#include "heapwalk/fold/ways.h"

/* True if LOST, whose ways are WAYS, is such a forest. */
bool mu_forest_can_be(const struct mu_ways *ways, const struct mu_lost *lost);

/*
 * Find TREES; the bits of WAYS are used up. The head of a ring, with what it
 * leads to, is the lowest node of the ring. LOST has no cells and no edges
 * afterwards. MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_forest_find(struct mu_trees *trees,
    const struct mu_ways *ways, struct mu_lost *lost,
    struct mu_deadline *deadline);

#endif

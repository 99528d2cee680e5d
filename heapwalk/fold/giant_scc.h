/*
 * The giant component: the one strongly connected component that contains most
 * nodes of many graphs.
 *
 * A depth-first search waits for one cache miss after another, since the next
 * node is known only when the last one has arrived. If most of the graph is one
 * component, that is found in sweeps over the nodes in the order of their
 * edges, and only the rest is searched depth-first.
 */
#ifndef HEAPWALK_FOLD_GIANT_SCC_H
#define HEAPWALK_FOLD_GIANT_SCC_H

#include "heapwalk/fold/trees.h"

#define MU_GIANT_SHARE 8 /* of the trees, at least one in that many */

/* Bit i % 64 of word i / 64: tree i. */
struct mu_giant_scc {
	uint64_t *below;   /* the giant component and all that it leads to; the
			      memory is borrowed from the lost graph */
	uint64_t *members; /* the giant component; or all that is below */
	/*
	 * If not MU_NO_NODE: nothing else leads to what is below, all of that
	 * are MEMBERS, and this is the lowest tree of the component.
	 */
	uint32_t lowest;
};

/*
 * Find the giant component. Everything below counts as part of it if nothing
 * else leads there: finding the exact members would take most of the time.
 *
 * Returns false if no component is large enough, if it would take too long, or
 * if memory is short; that does no harm. Time: linear in trees and edges.
 */
bool mu_giant_scc_find(struct mu_giant_scc *giant, const struct mu_trees *trees,
    struct mu_arena *arena, struct mu_deadline *deadline);

#endif

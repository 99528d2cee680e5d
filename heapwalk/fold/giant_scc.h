/*
 * The giant component: the one strongly connected component that contains most
 * nodes of many graphs.
 *
 * A depth-first search waits for one cache miss after another: the next node is
 * known only when the last one has come. Where most of the graph is one
 * component, it is found in sweeps over the nodes in the order of their edges,
 * and only what is left is searched in depth.
 */
#ifndef HEAPWALK_FOLD_GIANT_SCC_H
#define HEAPWALK_FOLD_GIANT_SCC_H

#include "heapwalk/fold/trees.h"

/* Bit i % 64 of word i / 64: tree i. */
struct mu_giant_scc {
	uint64_t *below;   /* what the giant component leads to, and itself */
	uint64_t *members; /* of the giant component; or all that is below */
	/*
	 * Not MU_NO_NODE: nothing else leads to any of what is below, all of
	 * that are MEMBERS, and this is the lowest tree of the component.
	 */
	uint32_t lowest;
};

/*
 * What is below counts as the component if nothing else leads there but to what
 * is of it: to know which it is would take most of the time.
 *
 * False if there is none of a share of the trees that is worth it, or it would
 * take too long to tell, or for want of memory: nothing is lost then. Time:
 * linear in trees and edges.
 */
bool mu_giant_scc_find(struct mu_giant_scc *giant, const struct mu_trees *trees,
    struct mu_arena *arena, struct mu_deadline *deadline);

#endif

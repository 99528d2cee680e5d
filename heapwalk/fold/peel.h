/*
 * Components that are one tree and that no cycle leads to.
 *
 * A tree is peeled once all that leads to it is. It waits for that in a ring,
 * while its edges are called for; so only what cycles lead to is left for a
 * depth-first search, which waits for main memory at each step.
 */
#ifndef HEAPWALK_FOLD_PEEL_H
#define HEAPWALK_FOLD_PEEL_H

#include "heapwalk/fold/lists.h"
#include "heapwalk/fold/trees.h"

#define MU_PEEL_RING 256u /* trees; a power of 2 */

struct mu_peel {
	const struct mu_trees *trees;
	uint8_t *ways; /* edges to each tree from trees that are left */
	uint32_t *of;  /* where to store the number of each tree that is peeled
			*/
	uint32_t next; /* number; one less for each, edges lead to lower ones */
	uint32_t left; /* trees */
	size_t num_edges; /* between trees */
	struct mu_lists *lists;
	uint32_t ring[MU_PEEL_RING], head, tail; /* trees to peel; counts */
	uint32_t listed; /* the same: trees whose targets are listed */
	struct mu_deadline *deadline;
};

/*
 * PEEL->of, next, lists and deadline are set, the rest is 0. MU_ERR_NO_MEMORY;
 * MU_ERR_TIMEOUT.
 */
enum mu_status mu_peel_open(
    struct mu_peel *peel, const struct mu_trees *trees, struct mu_arena *arena);

/* Peel most of what can be peeled; if the deadline passes, less. */
void mu_peel(struct mu_peel *peel);

#endif

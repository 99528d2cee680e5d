/*
 * Components that are one tree and that no cycle leads to.
 *
 * A tree is peeled once all that leads to it is. That is done in sweeps over
 * the trees by number, in which no step waits for the one before; so only what
 * cycles lead to is left for a depth-first search, which does wait.
 */
#ifndef HEAPWALK_FOLD_PEEL_H
#define HEAPWALK_FOLD_PEEL_H

#include "heapwalk/fold/trees.h"

struct mu_peel {
	const struct mu_trees *trees;
	uint8_t *ways; /* edges to each tree from trees that are left */
	uint32_t *of;  /* where to store the number of each tree that is peeled
			*/
	uint32_t next; /* number; one less for each, edges lead to lower ones */
	uint32_t left; /* trees */
	struct mu_deadline *deadline;
};

/*
 * PEEL->of, next and deadline are set. MU_ERR_NO_MEMORY;
 * MU_ERR_TIMEOUT.
 */
enum mu_status mu_peel_open(
    struct mu_peel *peel, const struct mu_trees *trees, struct mu_arena *arena);

/* Peel most of what can be peeled; if the deadline passes, less. */
void mu_peel(struct mu_peel *peel);

#endif

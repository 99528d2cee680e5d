/*
 * Find the strongly connected components of trees.
 *
 * What no cycle leads to is peeled (heapwalk/fold/peel.h), the giant component
 * is found in sweeps (heapwalk/fold/giant_scc.h), and only the rest is searched
 * depth-first, which waits for memory at each step.
 */
#ifndef HEAPWALK_FOLD_SCC_H
#define HEAPWALK_FOLD_SCC_H

#include "heapwalk/fold/lists.h"
#include "heapwalk/fold/trees.h"

struct mu_scc {
	uint32_t num_components;
	uint32_t num_searched; /* of them; each of the others is one tree */
	const uint64_t
	    *giant; /* bits of the giant component's trees; or NULL */
	const uint64_t *below; /* and of those that it leads to */
	uint32_t giant_lowest; /* the lowest of it, if it is an owner that all
				  of BELOW belong to; or MU_NO_NODE */
	uint32_t giant_number; /* of its component */
	bool ends;             /* it leads to nothing else */
	struct mu_lists lists; /* of trees that trees which were peeled lead to
				*/

	/* Two pieces of memory that are free again, with room for COUNT. */
	struct {
		uint32_t *room;
		uint32_t count;
	} spare[2];
};

/*
 * Store the component of each tree in OF, whose elements are 0: edges between
 * components go from higher to lower numbers. MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_scc_find(struct mu_scc *scc, const struct mu_trees *trees,
    uint32_t *of, struct mu_arena *arena, struct mu_deadline *deadline);

#endif

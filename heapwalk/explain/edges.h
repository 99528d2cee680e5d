/* The stored edges of a node, one by one. */
#ifndef HEAPWALK_EXPLAIN_EDGES_H
#define HEAPWALK_EXPLAIN_EDGES_H

#include "heapwalk/graph/graph.h"

/*
 * An edge from the cursor *AT on, which is moved to the next one: the target
 * with MU_CELL_ONE, or 1 + an index in graph->targets, or 0. False: there is no
 * further one.
 */
static inline bool
mu_edges_next(const struct mu_graph *graph, uint32_t *at, uint32_t *target)
{
	uint32_t link, cell, index;

	while (*at != 0) {
		if ((*at & MU_CELL_ONE) != 0) {
			*target = *at & ~MU_CELL_ONE;
			*at = 0;
			return true;
		}
		index = *at - 1;
		link = graph->targets[index];
		if ((link & MU_TARGET_LINK) != 0)
			index++;
		else
			link = 0;
		cell = graph->targets[index];
		*at = (cell & MU_TARGET_LAST) != 0 ? 0 : index + 2;
		if ((link & MU_LINK_STALE) != 0 && !graph->blocks->last_words)
			continue;
		*target = cell & ~MU_TARGET_LAST;
		return true;
	}
	return false;
}

/*
 * Take away the edges from NODE, all of which are stored, for whose target DROP
 * returns true. Marking is over, and the graph is not made again.
 */
void mu_edges_drop(struct mu_graph *graph, uint32_t node,
    bool (*drop)(void *ctx, uint32_t target), void *ctx);

#endif

/* While a lost graph is opened: its edges are those of the whole graph. */
#ifndef HEAPWALK_GRAPH_LOST_OPENING_H
#define HEAPWALK_GRAPH_LOST_OPENING_H

#include "heapwalk/graph/lost.h"

/* Note in FIRSTS how many of BITS are set before each group. Returns all. */
uint32_t mu_lost_rank(
    const struct mu_graph *graph, const uint64_t *bits, uint32_t *firsts);

/*
 * Take the blocks that are alone out of the lost nodes, if that is worth it. A
 * recorder puts its blocks into groups by component.
 */
void mu_lost_set_apart(struct mu_lost *lost, struct mu_deadline *deadline);

/*
 * Read the edge at *AT, and move behind it; LAST: it is the last of its node.
 * Returns true if it leads to a lost node.
 */
static inline bool
mu_lost_read_edge(const struct mu_lost *lost, const uint32_t **at,
    uint32_t *target, bool *last)
{
	bool counts = true;

	if ((**at & MU_TARGET_LINK) != 0)
		counts = (*(*at)++ & MU_LINK_STALE) == 0 ||
		    lost->graph->blocks->last_words;
	*target = **at & ~MU_TARGET_LAST;
	*last = (*(*at)++ & MU_TARGET_LAST) != 0;
	return counts && mu_is_lost(lost, *target);
}

#endif

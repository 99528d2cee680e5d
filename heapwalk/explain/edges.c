#include "heapwalk/explain/edges.h"

void
mu_edges_drop(struct mu_graph *graph, uint32_t node,
    bool (*drop)(void *ctx, uint32_t target), void *ctx)
{
	uint32_t *targets = graph->targets, cell = graph->cells[node];
	uint32_t at = cell - 1, to = at, last = MU_NO_NODE, link, edge;

	if ((cell & MU_CELL_ONE) != 0 && drop(ctx, cell & ~MU_CELL_ONE))
		graph->cells[node] = MU_CELL_NONE;
	if (cell == MU_CELL_NONE || (cell & MU_CELL_ONE) != 0)
		return;
	do {
		link = (targets[at] & MU_TARGET_LINK) != 0 ? targets[at++] : 0;
		edge = targets[at++];
		if (drop(ctx, edge & ~MU_TARGET_LAST))
			continue;
		if (link != 0)
			targets[to++] = link;
		last = to++;
		targets[last] = edge & ~MU_TARGET_LAST;
	} while ((edge & MU_TARGET_LAST) == 0);
	if (last == MU_NO_NODE)
		graph->cells[node] = MU_CELL_NONE;
	else
		targets[last] |= MU_TARGET_LAST;
}

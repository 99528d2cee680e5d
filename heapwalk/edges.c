/*
 * Edges that are not stored: read from the blocks.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/edges.h"

#include <string.h>

#include "heapwalk/references.h"

#define WORD sizeof(uintptr_t)

void
mu_edges_read(struct mu_edges *edges, const struct mu_graph *graph,
    uint32_t node, uintptr_t at, struct mu_deadline *deadline)
{
	struct mu_block block;

	*edges = (struct mu_edges) { .deadline = deadline };
	if (!mu_graph_block(graph, node, &block))
		return;
	edges->at = mu_reference_first(graph->blocks, at);
	edges->end = block.range.end;
	edges->view = block.view + (edges->at - block.range.begin);
}

bool
mu_edges_read_next(
    struct mu_edges *edges, const struct mu_graph *graph, uint32_t *target)
{
	const struct mu_blocks *blocks = graph->blocks;
	size_t step = mu_reference_step(blocks);
	uintptr_t word, from = edges->at;
	bool found = false;

	while (!found && edges->at < edges->end &&
	    edges->end - edges->at >= WORD) {
		memcpy(&word, edges->view, WORD);
		edges->at += step;
		edges->view += step;
		found = mu_range_has(blocks->envelope,
			    mu_reference_untag(blocks, word)) &&
		    mu_graph_target(graph, edges->at - step, word, target);
	}
	mu_deadline_passed(edges->deadline, 8 + (edges->at - from) / step);
	return found;
}

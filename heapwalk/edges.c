/*
 * Edges that are not stored: read from the blocks.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/edges.h"

#include "heapwalk/references.h"

void
mu_edges_read(struct mu_edges *edges, const struct mu_graph *graph,
    uint32_t node, uintptr_t at, struct mu_deadline *deadline)
{
	struct mu_block block;

	*edges = (struct mu_edges) { .deadline = deadline };
	if (!mu_graph_block(graph, node, &block))
		return;
	edges->code = mu_reference_in_code(graph->blocks, block.range);
	edges->at = mu_reference_first(graph->blocks, edges->code, at);
	edges->end = block.range.end;
	edges->view = block.view + (edges->at - block.range.begin);
}

static bool
leads(const struct mu_graph *graph, uintptr_t at, uintptr_t word,
    uint32_t *target)
{
	const struct mu_blocks *blocks = graph->blocks;

	return mu_range_has(
		   blocks->envelope, mu_reference_untag(blocks, word)) &&
	    mu_graph_target(graph, at, word, target);
}

bool
mu_edges_read_next(
    struct mu_edges *edges, const struct mu_graph *graph, uint32_t *target)
{
	size_t step = mu_reference_step(graph->blocks, edges->code);
	uintptr_t word, from = edges->at, at;
	bool found = false;

	while (!found &&
	    mu_reference_word((struct mu_range) { edges->at, edges->end },
		edges->view, edges->code, edges->at, &word)) {
		at = edges->at;
		edges->at += step;
		edges->view += step;
		found = leads(graph, at, word, target) ||
		    (edges->code && leads(graph, 0, word & UINT32_MAX, target));
	}
	mu_deadline_passed(edges->deadline, 8 + (edges->at - from) / step);
	return found;
}

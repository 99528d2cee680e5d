#include "heapwalk/mark/mark.h"

#include "heapwalk/mark/links.h"

/*
 * Pending nodes; with more it is sweeps that are faster, if more is pending
 * than a sweep must find to be worth it (heapwalk/mark/marking.c): else each
 * sweep over all marks could serve a few thousand nodes only.
 */
#define MIN_DEPTH 4096
#define NODES_A_PENDING 256

struct confirming {
	struct mu_graph *graph;
	const struct mu_range *candidates;
	size_t count, next;
	struct mu_deadline deadline;
};

static bool
mark_if_new(void *ctx, const struct mu_block *block)
{
	struct confirming *confirming = ctx;
	const struct mu_range *candidates = confirming->candidates;
	uintptr_t begin = block->range.begin;
	size_t i = confirming->next;

	while (i < confirming->count && candidates[i].begin < begin)
		i++;
	confirming->next = i;
	if (i == confirming->count || candidates[i].begin != begin ||
	    candidates[i].end != block->range.end)
		mu_block_mark(block);
	return !mu_deadline_passed(&confirming->deadline, 1);
}

static size_t
depth_for(const struct mu_graph *graph)
{
	size_t depth = graph->num_nodes / NODES_A_PENDING;

	return depth > MIN_DEPTH ? depth : MIN_DEPTH;
}

enum mu_status
mu_mark_bounded(struct mu_graph *graph, uint64_t deadline_ns, size_t max_depth)
{
	struct mu_marking marking;

	if (!mu_marking_open(&marking, graph, max_depth, deadline_ns))
		return MU_ERR_NO_MEMORY;
	mu_mark_links(&marking);
	return marking.passed ? MU_ERR_TIMEOUT : MU_OK;
}

enum mu_status
mu_mark(struct mu_graph *graph, uint64_t deadline_ns)
{
	return mu_mark_bounded(graph, deadline_ns, depth_for(graph));
}

enum mu_status
mu_mark_confirm(struct mu_graph *graph, const struct mu_range *candidates,
    size_t count, uint64_t deadline_ns)
{
	struct confirming confirming = { .graph = graph,
		.candidates = candidates,
		.count = count,
		.deadline = { .ns = deadline_ns } };
	struct mu_marking marking;

	if (!mu_marking_open(&marking, graph, depth_for(graph), deadline_ns))
		return MU_ERR_NO_MEMORY;
	mu_blocks_each_unmarked(graph->blocks, mark_if_new, &confirming);
	if (confirming.deadline.passed)
		return MU_ERR_TIMEOUT;
	mu_mark_put_off(&marking);
	return marking.passed ? MU_ERR_TIMEOUT : MU_OK;
}

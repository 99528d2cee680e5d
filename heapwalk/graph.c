/*
 * Unreachable blocks as a graph.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/graph.h"

#include <string.h>

#include "heapwalk/references.h"

#define WORD sizeof(uintptr_t)

struct totals {
	size_t count, bytes;
};

static bool
add_to_totals(void *ctx, const struct mu_block *block)
{
	struct totals *totals = ctx;

	totals->count++;
	totals->bytes += mu_range_size(block->range);
	return true;
}

struct numbering {
	struct mu_graph *graph;
	size_t span; /* that held the last block */
	size_t max_nodes;
};

/* Start bits in the block's bitmap word that are nodes and lie below it. */
static unsigned
nodes_below(const struct mu_span *span, const struct mu_block *block)
{
	size_t word = (size_t)(block->mark - span->mark);
	uint64_t nodes = span->start[word] & ~span->mark[word];

	return (unsigned)__builtin_popcountll(nodes & (block->bit - 1));
}

static bool
number_block(void *ctx, const struct mu_block *block)
{
	struct numbering *numbering = ctx;
	struct mu_graph *graph = numbering->graph;
	const struct mu_span *spans = graph->blocks->spans, *span;
	uint32_t node = graph->num_nodes;

	if (node == numbering->max_nodes)
		return false;
	if (block->mark != NULL) {
		while (!mu_range_has(
		    spans[numbering->span].range, block->range.begin))
			numbering->span++;
		span = &spans[numbering->span];
		if (nodes_below(span, block) == 0)
			graph->firsts[numbering->span]
				     [block->mark - span->mark] = node;
	} else {
		graph->listed[block->listed - graph->blocks->listed] = node;
	}
	graph->begins[node] = block->range.begin;
	graph->bytes += mu_range_size(block->range);
	graph->num_nodes++;
	return true;
}

/* Is WORD, read at ADDRESS, an edge? */
static bool
find_target(const struct mu_graph *graph, uintptr_t address, uintptr_t word,
    uint32_t *target)
{
	const struct mu_blocks *blocks = graph->blocks;
	const struct mu_span *span;
	struct mu_block block;

	if (!mu_reference_find(blocks, address, word, &block) ||
	    mu_block_marked(&block))
		return false;
	if (block.mark == NULL) {
		*target = graph->listed[block.listed - blocks->listed];
		return !block.listed->keep;
	}
	span = mu_blocks_span(blocks, block.range.begin);
	*target = graph->firsts[span - blocks->spans][block.mark - span->mark] +
	    nodes_below(span, &block);
	return true;
}

void
mu_graph_count(const struct mu_blocks *blocks, size_t *count, size_t *bytes)
{
	struct totals totals = { 0, 0 };

	mu_blocks_each_unmarked(blocks, add_to_totals, &totals);
	*count = totals.count;
	*bytes = totals.bytes;
}

bool
mu_graph_open(struct mu_graph *graph, const struct mu_blocks *blocks,
    size_t count, struct mu_arena *arena)
{
	struct numbering numbering = { graph, 0, count };
	size_t i;

	*graph = (struct mu_graph) { .blocks = blocks };
	if (count > MU_MAX_NODES)
		return false;
	graph->begins = mu_arena_alloc(arena, count, sizeof(*graph->begins));
	graph->firsts =
	    mu_arena_alloc(arena, blocks->num_spans, sizeof(*graph->firsts));
	graph->listed =
	    mu_arena_alloc(arena, blocks->num_listed, sizeof(*graph->listed));
	if (graph->begins == NULL || graph->firsts == NULL ||
	    graph->listed == NULL)
		return false;
	for (i = 0; i < blocks->num_spans; i++) {
		graph->firsts[i] = mu_arena_alloc(arena,
		    blocks->spans[i].num_words, sizeof(*graph->firsts[i]));
		if (graph->firsts[i] == NULL)
			return false;
	}
	mu_blocks_each_unmarked(blocks, number_block, &numbering);
	return true;
}

bool
mu_graph_block(
    const struct mu_graph *graph, uint32_t node, struct mu_block *block)
{
	return mu_blocks_find(graph->blocks, graph->begins[node], block);
}

void
mu_edges_open(struct mu_edges *edges, const struct mu_graph *graph,
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
mu_edges_next(
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
		    find_target(graph, edges->at - step, word, target);
	}
	mu_deadline_passed(edges->deadline, 8 + (edges->at - from) / step);
	return found;
}

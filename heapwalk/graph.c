/*
 * Unreachable blocks as a graph.
 *
 * Numbers come from the bitmaps alone: no block is looked at for them.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/graph.h"

#include "heapwalk/references.h"

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

static bool
number_span(struct mu_graph *graph, size_t index)
{
	const struct mu_span *span = &graph->blocks->spans[index];
	uint32_t *firsts = graph->firsts[index];
	size_t node = graph->num_nodes, i;

	for (i = 0; i < span->num_words; i++) {
		firsts[i] = (uint32_t)node;
		node += (size_t)__builtin_popcountll(mu_graph_bits(span, i));
		if (node > MU_MAX_NODES)
			return false;
	}
	graph->num_nodes = (uint32_t)node;
	return true;
}

/* A listed block and a span never overlap. False: too many. */
static bool
number_all(struct mu_graph *graph)
{
	const struct mu_blocks *blocks = graph->blocks;
	const struct mu_listed *listed;
	size_t i, j = 0;

	for (i = 0; i < blocks->num_listed; i++) {
		listed = &blocks->listed[i];
		for (; j < blocks->num_spans &&
		     blocks->spans[j].range.begin < listed->range.begin;
		     j++) {
			if (!number_span(graph, j))
				return false;
		}
		graph->listed[i] = graph->num_nodes;
		if (!listed->marked && !listed->keep &&
		    ++graph->num_nodes > MU_MAX_NODES)
			return false;
	}
	for (; j < blocks->num_spans; j++) {
		if (!number_span(graph, j))
			return false;
	}
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
    struct mu_arena *arena)
{
	size_t i;

	*graph = (struct mu_graph) { .blocks = blocks };
	graph->firsts =
	    mu_arena_alloc(arena, blocks->num_spans, sizeof(*graph->firsts));
	graph->listed =
	    mu_arena_alloc(arena, blocks->num_listed, sizeof(*graph->listed));
	if (graph->firsts == NULL || graph->listed == NULL)
		return false;
	for (i = 0; i < blocks->num_spans; i++) {
		graph->firsts[i] = mu_arena_alloc(arena,
		    blocks->spans[i].num_words + 1, sizeof(*graph->firsts[i]));
		if (graph->firsts[i] == NULL)
			return false;
	}
	if (!number_all(graph))
		return false;
	graph->begins = mu_arena_alloc_table(
	    arena, graph->num_nodes, sizeof(*graph->begins));
	graph->sizes = mu_arena_alloc_table(
	    arena, graph->num_nodes, sizeof(*graph->sizes));
	return graph->begins != NULL && graph->sizes != NULL;
}

bool
mu_graph_block(
    const struct mu_graph *graph, uint32_t node, struct mu_block *block)
{
	return mu_blocks_find(graph->blocks, graph->begins[node], block);
}

bool
mu_graph_target(const struct mu_graph *graph, uintptr_t address, uintptr_t word,
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
	*target = mu_graph_number(
	    graph, span, mu_graph_word(span, block.range.begin), block.bit);
	return true;
}

/*
 * Unreachable blocks as a graph: nodes are numbers, by address.
 *
 * Nodes are the blocks that are neither marked nor to be kept; an edge a -> b
 * is a word of a that refers to b (heapwalk/references.h). Edges are stored
 * (heapwalk/edges.h) or, where there is no memory for that, read from the
 * blocks whenever they are asked for.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GRAPH_H
#define HEAPWALK_GRAPH_H

#include "heapwalk/blocks.h"
#include "heapwalk/deadline.h"

/* Numbers of nodes fit into 31 bits: 2^31 blocks are 64 GiB at least. */
#define MU_MAX_NODES 0x7fffffffu

/* In mu_graph.sizes: larger than that; mu_graph_block() knows. */
#define MU_LARGE_NODE UINT32_MAX

struct mu_graph {
	const struct mu_blocks *blocks;
	uintptr_t *begins;
	uint32_t *sizes; /* bytes */
	uint32_t num_nodes;
	size_t bytes; /* of all nodes */

	/*
	 * Of each node first its component (heapwalk/components.h), then its
	 * edges if they are stored (heapwalk/edges.h): what is looked at
	 * together is together. CELLS_SHIFT: a node has 1 << that many.
	 */
	uint32_t *cells;
	unsigned cells_shift;

	/*
	 * Address to number: for each bitmap word of each span its first
	 * node, which the bits below the block's are added to; for each
	 * listed block its node.
	 */
	uint32_t **firsts;
	uint32_t *listed;
};

/* How many blocks are unmarked, and their bytes. */
void mu_graph_count(
    const struct mu_blocks *blocks, size_t *count, size_t *bytes);

/*
 * False if there is no memory, or more nodes than numbers. Numbers only: the
 * rest is for mu_graph_fill().
 */
bool mu_graph_open(struct mu_graph *graph, const struct mu_blocks *blocks,
    struct mu_arena *arena);

/*
 * Describe each node, and store its edges: together less than MAX_BYTES for
 * both. Of large blocks only what MEMORY says was written is read; NULL: all
 * of them. Without room for the edges they will be read from the blocks each
 * time. False if there is no memory, or no time.
 */
bool mu_graph_fill(struct mu_graph *graph, size_t max_bytes,
    struct mu_memory *memory, struct mu_arena *arena,
    struct mu_deadline *deadline);

/* The block of NODE. */
bool mu_graph_block(
    const struct mu_graph *graph, uint32_t node, struct mu_block *block);

static inline uint32_t *
mu_graph_component(const struct mu_graph *graph, uint32_t node)
{
	return &graph->cells[(size_t)node << graph->cells_shift];
}

static inline size_t
mu_graph_size(const struct mu_graph *graph, uint32_t node)
{
	struct mu_block block;

	if (graph->sizes[node] != MU_LARGE_NODE)
		return graph->sizes[node];
	return mu_graph_block(graph, node, &block) ? mu_range_size(block.range)
						   : 0;
}

/* Does WORD, read at ADDRESS inside a block, lead to a node? */
bool mu_graph_target(const struct mu_graph *graph, uintptr_t address,
    uintptr_t word, uint32_t *target);

/* The place in the bitmaps of SPAN that ADDRESS belongs to. */
static inline size_t
mu_graph_word(const struct mu_span *span, uintptr_t address)
{
	return (address - span->range.begin) / MU_GRAIN / 64;
}

/* Bits of a bitmap word of SPAN that are nodes. */
static inline uint64_t
mu_graph_bits(const struct mu_span *span, size_t word)
{
	return *mu_span_starts(span, word) & ~*mu_span_marks(span, word);
}

/* The node that BIT of a bitmap word of SPAN is. */
static inline uint32_t
mu_graph_number(const struct mu_graph *graph, const struct mu_span *span,
    size_t word, uint64_t bit)
{
	uint64_t below = mu_graph_bits(span, word) & (bit - 1);

	return graph->firsts[span - graph->blocks->spans][word] +
	    (uint32_t)__builtin_popcountll(below);
}

#endif

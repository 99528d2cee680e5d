/*
 * Unreachable blocks as a graph: nodes are numbers, by address.
 *
 * Nodes are the blocks that are neither marked nor to be kept; an edge a -> b
 * is a word of a that refers to b (heapwalk/references.h). Edges are read from
 * the blocks whenever they are asked for, never stored.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GRAPH_H
#define HEAPWALK_GRAPH_H

#include "heapwalk/blocks.h"
#include "heapwalk/deadline.h"

/* Numbers of nodes fit into 31 bits: 2^31 blocks are 64 GiB at least. */
#define MU_MAX_NODES 0x7fffffffu

struct mu_graph {
	const struct mu_blocks *blocks;
	uintptr_t *begins; /* of each node */
	uint32_t num_nodes;
	size_t bytes; /* of all nodes */

	/*
	 * Address to number: for each bitmap word of each span its first
	 * node, which the bits below the block's are added to; for each
	 * listed block its node.
	 */
	uint32_t **firsts;
	uint32_t *listed;
};

/* The words of one node that were not looked at yet. */
struct mu_edges {
	const char *view; /* of AT */
	uintptr_t at, end;
	struct mu_deadline *deadline; /* that the reading is charged to */
};

/* How many blocks are unmarked, and their bytes. */
void mu_graph_count(
    const struct mu_blocks *blocks, size_t *count, size_t *bytes);

/* False if there is no memory, or more nodes than numbers. */
bool mu_graph_open(struct mu_graph *graph, const struct mu_blocks *blocks,
    size_t count, struct mu_arena *arena);

/* The block of NODE. */
bool mu_graph_block(
    const struct mu_graph *graph, uint32_t node, struct mu_block *block);

/* Edges of NODE from the word at AT on; from its begin these are all. */
void mu_edges_open(struct mu_edges *edges, const struct mu_graph *graph,
    uint32_t node, uintptr_t at, struct mu_deadline *deadline);

/* The next edge's target; false after the last. */
bool mu_edges_next(
    struct mu_edges *edges, const struct mu_graph *graph, uint32_t *target);

#endif

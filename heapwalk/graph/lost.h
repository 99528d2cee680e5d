/*
 * The unreachable part of the graph: nodes are numbered anew, by address, and
 * edges to what is reachable are gone.
 *
 * It takes the place of the whole graph: targets are changed where they are.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GRAPH_LOST_H
#define HEAPWALK_GRAPH_LOST_H

#include "heapwalk/deadline.h"
#include "heapwalk/graph/graph.h"

/* What a search looks at together. */
struct mu_lost_node {
	uint32_t cell;      /* as mu_graph.cells, by new numbers */
	uint32_t component; /* heapwalk/components.h */
};

struct mu_lost {
	struct mu_graph *graph;
	uint32_t num_blocks, num_nodes; /* parts of large ones come last */
	size_t bytes;                   /* of all */
	struct mu_lost_node *nodes;
	uint32_t *sizes;  /* bytes of each block, or MU_LARGE_SIZE */
	uint64_t *bits;   /* which of 64 nodes of the graph's are lost */
	uint32_t *firsts; /* the first of these */
};

#define MU_LARGE_SIZE UINT32_MAX

/* How many blocks are unmarked, and their bytes. */
void mu_lost_count(
    const struct mu_blocks *blocks, size_t *count, size_t *bytes);

/*
 * Once all is marked. MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT. GRAPH is of no use for
 * anything else then.
 */
enum mu_status mu_lost_open(
    struct mu_lost *lost, struct mu_graph *graph, struct mu_deadline *deadline);

/* The block of NODE; false of a part. */
bool mu_lost_block(
    const struct mu_lost *lost, uint32_t node, struct mu_block *block);

/* Bytes of NODE, which has MU_LARGE_SIZE. */
size_t mu_lost_large(const struct mu_lost *lost, uint32_t node);

/* Bytes of NODE; 0: it is a part. */
static inline size_t
mu_lost_size(const struct mu_lost *lost, uint32_t node)
{
	if (node >= lost->num_blocks)
		return 0;
	return lost->sizes[node] != MU_LARGE_SIZE ? lost->sizes[node]
						  : mu_lost_large(lost, node);
}

/*
 * The edges of one node that were not looked at yet: the target itself with
 * MU_CELL_ONE, or 1 + a place in graph->targets, or, of what is read from the
 * image, 1 + a distance in the node's bytes; 0: there are no more. Bit 30 is
 * never set.
 */
struct mu_edges {
	uint32_t at;
	bool read;
	const struct mu_lost *lost;
	struct mu_node_bytes bytes; /* of what is read */
	uint32_t node;
	struct mu_deadline *deadline;
};

#define MU_EDGES_FREE_BIT 0x40000000u

static inline uint32_t
mu_edges_first(const struct mu_lost *lost, uint32_t node)
{
	uint32_t cell = lost->nodes[node].cell;

	return cell == MU_CELL_READ ? 1 : cell;
}

/* Is it known that NODE has no edges? */
static inline bool
mu_edges_none(const struct mu_lost *lost, uint32_t node)
{
	return mu_edges_first(lost, node) == MU_CELL_NONE;
}

/* The edges of NODE, whose cell is in the cache, are looked at soon. */
static inline void
mu_edges_expect(const struct mu_lost *lost, uint32_t node)
{
	uint32_t cell = lost->nodes[node].cell;

	if (cell - 1 < MU_CELL_READ - 1)
		__builtin_prefetch(&lost->graph->targets[cell - 1]);
}

/* mu_edges_open() and mu_edges_next() of what is not stored. */
void mu_edges_read(struct mu_edges *edges);
bool mu_edges_read_next(struct mu_edges *edges, uint32_t *target);

/*
 * Edges of NODE from AT on: mu_edges_first(), or an earlier edges->at. The
 * work is charged to DEADLINE.
 */
static inline void
mu_edges_open(struct mu_edges *edges, const struct mu_lost *lost, uint32_t node,
    uint32_t at, struct mu_deadline *deadline)
{
	edges->at = at;
	edges->lost = lost;
	edges->read =
	    lost->graph->reads && lost->nodes[node].cell == MU_CELL_READ;
	edges->deadline = deadline;
	mu_deadline_passed(deadline, 8);
	if (edges->read) {
		edges->node = node;
		mu_edges_read(edges);
	}
}

/* The next edge's target; false after the last. */
static inline bool
mu_edges_next(struct mu_edges *edges, uint32_t *target)
{
	uint32_t at = edges->at, cell;

	if (edges->read)
		return mu_edges_read_next(edges, target);
	if (at == 0)
		return false;
	edges->at = 0;
	if ((at & MU_CELL_ONE) != 0) {
		*target = at & ~MU_CELL_ONE;
		return true;
	}
	cell = edges->lost->graph->targets[at - 1];
	if ((cell & MU_TARGET_LAST) == 0)
		edges->at = at + 1;
	*target = cell & ~MU_TARGET_LAST;
	if (at % 4096 == 0)
		mu_deadline_passed(edges->deadline, 4096);
	return true;
}

#endif

/*
 * The edges of a graph of unreachable blocks.
 *
 * Stored, they are numbers of targets, four bytes each: the blocks are read
 * once, by all workers, and what follows edges need not wait for them again. A
 * node's cells have room for three; of more all but the first stand elsewhere
 * in mu_graph.cells, together. Edges to the node itself and repeated ones may
 * be left out. A random graph of 10^6 blocks and 3 10^6 edges is folded in a
 * tenth of the time that it takes without (0.6 s for 6, on 2 busy cores Xeon).
 *
 * Without memory for that, they are read from the block each time.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_EDGES_H
#define HEAPWALK_EDGES_H

#include "heapwalk/graph.h"

/*
 * A cell with an edge is its target + 1, with LAST the last one of its node; 0
 * if there is none. JUMP is no target: the next cell is the place where it
 * goes on. A place is an index into mu_graph.cells; 0 is the end.
 */
#define MU_EDGES_LAST 0x80000000u
#define MU_EDGES_JUMP 0x7fffffffu
#define MU_EDGES_CHUNK 16384u /* cells between two jumps, at most */
#define MU_EDGES_SHIFT 2      /* mu_graph.cells_shift where edges are stored */

/* The edges of one node that were not looked at yet. */
struct mu_edges {
	uintptr_t at; /* a place, or an address in the block */

	/* Only where they are not stored. */
	uintptr_t end;
	const char *view; /* of AT */
	bool code;

	struct mu_deadline *deadline;
};

static inline bool
mu_edges_stored(const struct mu_graph *graph)
{
	return graph->cells_shift != 0;
}

/* Where the edges of NODE begin. */
static inline uintptr_t
mu_edges_first(const struct mu_graph *graph, uint32_t node)
{
	return mu_edges_stored(graph) ? ((uintptr_t)node << MU_EDGES_SHIFT) + 1
				      : graph->begins[node];
}

/* Is it known that NODE has no edges? */
static inline bool
mu_edges_none(const struct mu_graph *graph, uint32_t node)
{
	return mu_edges_stored(graph) &&
	    graph->cells[((size_t)node << MU_EDGES_SHIFT) + 1] == 0;
}

/* mu_edges_open() and mu_edges_next() where edges are not stored. */
void mu_edges_read(struct mu_edges *edges, const struct mu_graph *graph,
    uint32_t node, uintptr_t at, struct mu_deadline *deadline);
bool mu_edges_read_next(
    struct mu_edges *edges, const struct mu_graph *graph, uint32_t *target);

/*
 * Edges of NODE from AT on: mu_edges_first(), or an earlier edges->at. The
 * work is charged to DEADLINE.
 */
static inline void
mu_edges_open(struct mu_edges *edges, const struct mu_graph *graph,
    uint32_t node, uintptr_t at, struct mu_deadline *deadline)
{
	if (!mu_edges_stored(graph)) {
		mu_edges_read(edges, graph, node, at, deadline);
		return;
	}
	edges->at = at;
	edges->deadline = deadline;
	mu_deadline_passed(deadline, 8);
}

/* The next edge's target; false after the last. */
static inline bool
mu_edges_next(
    struct mu_edges *edges, const struct mu_graph *graph, uint32_t *target)
{
	uint32_t cell;

	if (!mu_edges_stored(graph))
		return mu_edges_read_next(edges, graph, target);
	while (edges->at != 0) {
		cell = graph->cells[edges->at];
		if (cell == MU_EDGES_JUMP) {
			mu_deadline_passed(edges->deadline, MU_EDGES_CHUNK / 8);
			edges->at = graph->cells[edges->at + 1];
			continue;
		}
		edges->at = (cell & MU_EDGES_LAST) != 0 || cell == 0
		    ? 0
		    : edges->at + 1;
		*target = (cell & ~MU_EDGES_LAST) - 1;
		return cell != 0;
	}
	return false;
}

#endif

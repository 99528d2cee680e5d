/*
 * One worker of a marking.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_MARK_MARKER_H
#define HEAPWALK_MARK_MARKER_H

#include "heapwalk/deadline.h"
#include "heapwalk/graph/reader.h"

#define MU_MARKER_AHEAD 16 /* a power of two: on the way from memory */

struct mu_marker {
	struct mu_graph *graph;
	struct mu_deadline deadline;

	/* NULL: what is marked is left to the next sweep. Else it is alone. */
	uint32_t *stack;
	size_t depth, max_depth;
	bool full; /* some nodes were marked and found no room */

	/* Nodes whose cells are on the way; places of their targets. */
	uint32_t nodes[MU_MARKER_AHEAD], lists[MU_MARKER_AHEAD];
	unsigned first_node, last_node, first_list, last_list;

	struct mu_reader reader; /* of nodes whose edges are not stored */
};

/* MARKER has no stack. */
void mu_marker_open(
    struct mu_marker *marker, struct mu_graph *graph, uint64_t deadline_ns);

/* The oldest node that waits; there is one. */
void mu_marker_settle(struct mu_marker *marker);

/* Follow NODE, which is marked; it may wait for memory. */
static inline void
mu_marker_follow(struct mu_marker *marker, uint32_t node)
{
	if (marker->last_node - marker->first_node == MU_MARKER_AHEAD)
		mu_marker_settle(marker);
	if (marker->graph->cells != NULL)
		__builtin_prefetch(&marker->graph->cells[node]);
	marker->nodes[marker->last_node++ % MU_MARKER_AHEAD] = node;
}

/* Follow all that waits, and what is on the stack. */
void mu_marker_drain(struct mu_marker *marker);

#endif

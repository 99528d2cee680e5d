/*
 * One worker of a marking.
 */
#ifndef HEAPWALK_MARK_MARKER_H
#define HEAPWALK_MARK_MARKER_H

#include "heapwalk/graph/reader.h"
#include "heapwalk/subject/deadline.h"

struct mu_chains; /* heapwalk/mark/chains.h */

#define MU_MARKER_AHEAD 16 /* a power of two: nodes being prefetched */

struct mu_marker {
	struct mu_graph *graph;
	struct mu_deadline deadline;

	/*
	 * NULL: marked nodes are left to the next sweep. Otherwise this worker
	 * is alone.
	 */
	uint32_t *stack;
	size_t depth, max_depth;
	bool full;                /* some marked nodes did not fit */
	struct mu_chains *chains; /* of the worker with the stack */

	/* Bits of nodes that this worker finds, instead of marks; or NULL. */
	uint64_t *found;

	/*
	 * Nodes whose cells are being fetched; indices of targets that are,
	 * with their nodes.
	 */
	uint32_t nodes[MU_MARKER_AHEAD], lists[MU_MARKER_AHEAD];
	uint32_t sources[MU_MARKER_AHEAD];
	uint32_t linker; /* last node noted in graph->linkers */
	unsigned first_node, last_node, first_list, last_list;

	struct mu_reader reader; /* for nodes whose edges are not stored */
};

/* Others may read FOUND, but not write to it. */
static inline void
mu_marker_find(uint64_t *found, uint32_t node)
{
	uint64_t *word = &found[node / 64];
	uint64_t bits = __atomic_load_n(word, __ATOMIC_RELAXED);

	__atomic_store_n(word, bits | 1ull << (node % 64), __ATOMIC_RELAXED);
}

/* Open MARKER without a stack; it marks what it finds. */
void mu_marker_open(
    struct mu_marker *marker, struct mu_graph *graph, uint64_t deadline_ns);

/* Follow those of the 64 nodes from FIRST on that are marked and in NODES. */
void mu_marker_follow_word(
    struct mu_marker *marker, uint32_t first, uint64_t nodes);

/* Follow all queued nodes and those on the stack. */
void mu_marker_drain(struct mu_marker *marker);

#endif

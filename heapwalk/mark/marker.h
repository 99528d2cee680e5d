/*
 * One worker of a marking.
 */
#ifndef HEAPWALK_MARK_MARKER_H
#define HEAPWALK_MARK_MARKER_H

#include "heapwalk/graph/reader.h"
#include "heapwalk/subject/deadline.h"

struct mu_chains; /* heapwalk/mark/chains.h */

#define MU_MARKER_AHEAD 16 /* a power of two: on the way from memory */

struct mu_marker {
	struct mu_graph *graph;
	struct mu_deadline deadline;

	/* NULL: what is marked is left to the next sweep. Else it is alone. */
	uint32_t *stack;
	size_t depth, max_depth;
	bool full;                /* some nodes were marked and found no room */
	struct mu_chains *chains; /* of who has a stack */

	/* Bits of what this worker finds, in place of marks; or NULL. */
	uint64_t *found;

	/*
	 * Nodes whose cells are on the way; places of targets that are, and
	 * whose they are.
	 */
	uint32_t nodes[MU_MARKER_AHEAD], lists[MU_MARKER_AHEAD];
	uint32_t sources[MU_MARKER_AHEAD];
	uint32_t linker; /* noted last in graph->linkers */
	unsigned first_node, last_node, first_list, last_list;

	struct mu_reader reader; /* of nodes whose edges are not stored */
};

/* Others may read FOUND, none writes to it. */
static inline void
mu_marker_find(uint64_t *found, uint32_t node)
{
	uint64_t *word = &found[node / 64];
	uint64_t bits = __atomic_load_n(word, __ATOMIC_RELAXED);

	__atomic_store_n(word, bits | 1ull << (node % 64), __ATOMIC_RELAXED);
}

/* MARKER has no stack and marks what it finds. */
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

/* Follow those of 64 nodes from FIRST on that are marked and in NODES. */
void mu_marker_follow_word(
    struct mu_marker *marker, uint32_t first, uint64_t nodes);

/* Follow all that waits, and what is on the stack. */
void mu_marker_drain(struct mu_marker *marker);

#endif

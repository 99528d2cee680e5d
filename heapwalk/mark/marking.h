/*
 * Marking: mark the targets of marked nodes, repeatedly.
 *
 * One worker uses a stack as long as that holds all pending nodes. Once it is
 * full, all workers sweep over the marks in the order of the numbers; a pending
 * node is then known only by its two bits.
 *
 * The result does not depend on the number of workers or on any order: exactly
 * the reachable nodes are marked.
 */
#ifndef HEAPWALK_MARK_MARKING_H
#define HEAPWALK_MARK_MARKING_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/mark/chains.h"
#include "heapwalk/subject/deadline.h"
#include "mu/bits.h"

struct mu_marking {
	struct mu_graph *graph;
	uint32_t *stack; /* nodes to be followed next */
	size_t depth;    /* marked nodes on the stack */
	size_t max_depth;
	bool scan; /* more nodes than these may have to be followed */
	uint64_t deadline_ns;
	bool passed; /* the deadline has passed */
	struct mu_chains chains;

	/*
	 * What sweeps find: WORDS words of bits for each worker, so that each
	 * writes to its own. A random store into a table an eighth as large
	 * takes a third of the time. NULL: set marks directly.
	 */
	uint64_t *found;
	size_t words, num_found;
	bool by_marks; /* the sweep follows marked nodes, not only found ones */

	size_t next;     /* next unit of work of a sweep */
	size_t followed; /* nodes that the last sweep followed */
};

/*
 * True if the targets of NODE have been marked. Used by one worker at a time.
 */
static inline bool
mu_marking_followed(const struct mu_blocks *blocks, uint32_t node)
{
	return mu_bit(blocks->followed, node);
}

/* Used by one worker at a time. */
static inline void
mu_marking_follow(const struct mu_blocks *blocks, uint32_t node)
{
	mu_bit_set(blocks->followed, node);
}

/*
 * Make room for MAX_DEPTH nodes on the stack, or less. Returns false if memory
 * is exhausted.
 */
bool mu_marking_open(struct mu_marking *marking, struct mu_graph *graph,
    size_t max_depth, uint64_t deadline_ns);

/* Mark TARGET, which is unmarked; the next run follows it. */
static inline void
mu_marking_add(struct mu_marking *marking, uint32_t target)
{
	mu_blocks_mark(marking->graph->blocks, target);
	if (marking->depth < marking->max_depth)
		marking->stack[marking->depth++] = target;
	else
		marking->scan = true;
}

/* Follow all marked nodes and their targets, but no links. */
void mu_marking_run(struct mu_marking *marking);

#endif

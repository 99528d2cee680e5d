/*
 * Marking: the targets of marked nodes are marked in turn.
 *
 * One worker follows a stack as long as it holds all that is pending. Once it
 * is full, all workers sweep over the marks in the order of the numbers, and
 * nothing is kept of what is pending but its two bits.
 *
 * Which nodes end up marked does not depend on the number of workers, nor on
 * any order: what is reachable is.
 */
#ifndef HEAPWALK_MARK_MARKING_H
#define HEAPWALK_MARK_MARKING_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/mark/chains.h"
#include "heapwalk/subject/deadline.h"
#include "mu/bits.h"

struct mu_marking {
	struct mu_graph *graph;
	uint32_t *stack; /* nodes that are followed next */
	size_t depth;    /* nodes that are marked and wait on it already */
	size_t max_depth;
	bool scan; /* there may be more to be followed than these */
	uint64_t deadline_ns;
	bool passed; /* the deadline */
	struct mu_chains chains;

	/*
	 * What sweeps find: WORDS words of bits for each worker, so that each
	 * writes to its own. A random store takes a third of the time where
	 * the table is an eighth as large. NULL: marks are set.
	 */
	uint64_t *found;
	size_t words, num_found;

	size_t next;     /* ticket of a sweep */
	size_t followed; /* nodes that the last sweep did */
};

static inline bool
mu_marking_followed(const struct mu_blocks *blocks, uint32_t node)
{
	return mu_bit(blocks->followed, node);
}

/* By one worker at a time. */
static inline void
mu_marking_follow(const struct mu_blocks *blocks, uint32_t node)
{
	mu_bit_set(blocks->followed, node);
}

/* Room for MAX_DEPTH nodes on the stack, or less. False: no memory. */
bool mu_marking_open(struct mu_marking *marking, struct mu_graph *graph,
    size_t max_depth, uint64_t deadline_ns);

/* Mark TARGET, which is not; the next run follows it. */
static inline void
mu_marking_add(struct mu_marking *marking, uint32_t target)
{
	mu_blocks_mark(marking->graph->blocks, target);
	if (marking->depth < marking->max_depth)
		marking->stack[marking->depth++] = target;
	else
		marking->scan = true;
}

/* Follow all that is marked, and what that leads to; but no links. */
void mu_marking_run(struct mu_marking *marking);

#endif

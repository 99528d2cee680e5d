/*
 * The dominator tree of the reachable blocks, and what each node retains.
 *
 * A node dominates another one if every path from the roots to that one leads
 * through it: without it, that one would be lost. What a node retains is itself
 * and all that it dominates.
 *
 * Nodes are those of a marked graph, and before them the holders: roots, or
 * groups of roots, as the caller distinguishes them (a variable, a stack). The
 * top leads to all holders.
 *
 * Some holders are doubtful, such as a stack, where a word may be old or no
 * pointer. What a certain holder leads to is retained as if there were no
 * doubtful ones; these retain only what nothing else leads to.
 *
 * The tree is found by sweeps over the edges (heapwalk/explain/sweep.c), which
 * read memory in order and need few sweeps for most heaps; where they need
 * many, by Semi-NCA (heapwalk/explain/semi_nca.c). Both take 20 bytes a node,
 * and 4 for each edge that is not in their tree.
 */
#ifndef HEAPWALK_EXPLAIN_DOMINATORS_H
#define HEAPWALK_EXPLAIN_DOMINATORS_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/subject/deadline.h"

/* Holder I leads to the nodes TARGETS[FIRST[I]] to TARGETS[FIRST[I + 1] - 1].
 */
struct mu_holders {
	const uint32_t *first; /* COUNT + 1 */
	const uint32_t *targets;
	uint32_t count;
	uint32_t certain; /* holders below this index; others are doubtful */
};

#define MU_DOMINATORS_TOP 1u /* its number; 0: not reached */

struct mu_dominators {
	uint32_t num_holders, num_nodes; /* of the graph */
	uint32_t *numbers; /* of each holder, then of each node; 0: not
			      reached */
	uint32_t count;    /* numbers in use, the top included */
	uint32_t *parents; /* by number: the number of the direct dominator,
			      which is lower */
	size_t *retained;  /* by number: bytes, of the node included */
	uint32_t *blocks;  /* by number: how many these are */
};

/*
 * GRAPH was made and marked; its edges must all be stored. Memory is from
 * GRAPH's arena. MU_ERR_NO_MEMORY, also if edges are not stored;
 * MU_ERR_TIMEOUT.
 *
 * Runs in: command (any).
 */
enum mu_status mu_dominators_find(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline);

/* Elements in each table. */
static inline size_t
mu_dominators_size(const struct mu_dominators *dominators)
{
	return (size_t)dominators->num_holders + dominators->num_nodes + 3;
}

/*
 * The two ways: fill numbers, parents and count. The other tables, which are
 * zero, are theirs.
 *
 * *GAVE_UP: it would take long.
 */
enum mu_status mu_dominators_sweep(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline, bool *gave_up);
enum mu_status mu_dominators_semi_nca(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline);

/* The number of graph node NODE; 0: it was not reached. */
static inline uint32_t
mu_dominators_number(const struct mu_dominators *dominators, uint32_t node)
{
	return dominators->numbers[dominators->num_holders + node];
}

#endif

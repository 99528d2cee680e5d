/*
 * The shortest route from a root to each block.
 *
 * Routes from words that certainly are pointers of the program come first. A
 * word of a stack, a register, or anonymous memory is doubtful: it may be old,
 * or no pointer. So a block whose route begins there has no other one.
 */
#ifndef HEAPWALK_EXPLAIN_ROUTES_H
#define HEAPWALK_EXPLAIN_ROUTES_H

#include "heapwalk/explain/held.h"

struct mu_routes {
	const struct mu_graph *graph;
	const struct mu_held *held;
	uint32_t *parents; /* by node: see mu_routes_step() */

	/* The nodes that have a route, the shortest first; those whose route is
	 * doubtful follow all others. */
	uint32_t *order;
	size_t num_order;
};

/* What comes before a node on its route. */
struct mu_route_step {
	bool root;      /* INDEX is one of held->words, otherwise a node */
	bool doubtful;  /* the route begins at a doubtful word */
	uint32_t index; /* MU_NO_NODE: the node has no route */
};

/*
 * GRAPH is as for mu_dominators_find(). Memory, 8 bytes a node, is from ARENA.
 * MU_ERR_NO_MEMORY, also if edges are not stored; MU_ERR_TIMEOUT.
 *
 * Runs in: command (any).
 */
enum mu_status mu_routes_find(struct mu_routes *routes,
    const struct mu_graph *graph, const struct mu_held *held,
    struct mu_arena *arena, struct mu_deadline *deadline);

/*
 * What comes before NODE on its route; index is MU_NO_NODE if it has none. Any
 * number of threads at a time.
 */
struct mu_route_step mu_routes_step(
    const struct mu_routes *routes, uint32_t node);

/* The block that NODE is, or is a part of. */
uint32_t mu_route_block(const struct mu_graph *graph, uint32_t node);

/*
 * Find a word of block FROM, outside LINKS, that refers to block TO, by the
 * rules of marking: *OFFSET is where it lies in FROM, *INTO what it points to
 * in TO. Returns false if there is none, as for a reference that is no address.
 */
bool mu_route_word(const struct mu_graph *graph, uint32_t from, uint32_t to,
    struct mu_range links, size_t *offset, size_t *into);

#endif

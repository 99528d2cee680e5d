/*
 * Blocks that no root leads to, but some of which have to be roots: those from
 * which all others are reached. What owns another one comes before it.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_HEADS_H
#define LIB_EXPLAIN_HEADS_H

#include "heapwalk/explain/routes.h"

struct mu_heads {
	struct mu_routes *routes;
	struct mu_deadline *deadline;
	uint32_t *list;
	size_t count;
	size_t num_routed; /* nodes that have a route */
};

/* ROUTES is that of all else, and used up. LIST has room for all blocks. */
void mu_heads_open(struct mu_heads *heads, struct mu_routes *routes,
    uint32_t *list, struct mu_deadline *deadline);

/*
 * BLOCK may be a head if it has no route. Of a cycle it is the one that is
 * added first.
 */
void mu_heads_add(struct mu_heads *heads, uint32_t block);

/* Keep only those in the list to which no other leads. */
void mu_heads_keep(struct mu_heads *heads);

/* True if BLOCK is one that was kept. */
static inline bool
mu_heads_has(const struct mu_heads *heads, uint32_t block)
{
	return heads->routes->parents[block] == block;
}

#endif

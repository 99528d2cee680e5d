/*
 * The words outside the blocks, grouped by who they belong to: one holder for
 * each variable, for each thread's stack and registers, for each thread's
 * variables, for each other mapping.
 */
#ifndef LIB_EXPLAIN_HOLDERS_H
#define LIB_EXPLAIN_HOLDERS_H

#include "heapwalk/explain/dominators.h"
#include "lib/explain/places.h"

struct mu_holder_list {
	struct mu_step *holders;
	size_t count, max;
	uint32_t *of; /* the holder of each word */

	/* The same, for the dominators. */
	struct mu_holders targets;
};

/*
 * PLACES knows the variables. Memory is from places->tables. Returns false if
 * memory is exhausted.
 */
bool mu_holders_group(struct mu_holder_list *list, struct mu_places *places,
    const struct mu_held *held);

#endif

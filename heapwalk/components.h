/*
 * Strongly connected components of the unreachable blocks, and what hangs on
 * each.
 *
 * Components are numbered so that edges between them go from higher to lower
 * numbers. What is below a component is added up in one pass as long as it is
 * a tree: a long tail that many owners share is walked once, not once an
 * owner. What is below and shared has to be walked for each owner anew; but
 * what is below one of them, the hub, is added up once too (heapwalk/charge.c).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_COMPONENTS_H
#define HEAPWALK_COMPONENTS_H

#include "heapwalk/graph/lost.h"

#define MU_NO_PARENT 0xffffffffu /* nothing points at it: an owner */
#define MU_MANY_PARENT 0xfffffffeu
#define MU_NO_HUB 0xffffffffu

struct mu_component {
	/*
	 * Of all that is below it, itself included, if it is complete, as a
	 * tree is from the start; else of the component alone.
	 */
	size_t bytes;
	uint32_t count : 31;
	uint32_t complete : 1;
	uint32_t lowest : 31; /* node; the others follow by next_member */
	uint32_t below_hub : 1;
	uint32_t parent; /* the only one, or as above */
	/*
	 * Until mu_components_charge() the number of edges that lead here;
	 * then the owner + 1 that was last charged for it; at last whether it
	 * is reported (heapwalk/reported.h).
	 */
	uint32_t visitor;
};

struct mu_components {
	const struct mu_lost *lost; /* knows each node's component */
	struct mu_component *all;
	uint32_t num_components;
	uint32_t hub; /* complete, and others lead to what is below it */
	uint32_t *next_member; /* node to node; its own number: the last */

	/* As many entries as nodes each; DEFERRED for mu_components_charge().
	 */
	uint32_t *pending, *deferred;
	uint32_t num_pending, num_deferred;
	struct mu_deadline *deadline;
};

/*
 * MU_ERR_NO_MEMORY or MU_ERR_TIMEOUT: no components. Uses about 36 bytes a
 * node.
 */
enum mu_status mu_components_find(struct mu_components *components,
    const struct mu_lost *lost, struct mu_arena *arena,
    struct mu_deadline *deadline);

/*
 * Charge every owner for all that can be reached from it. False if the
 * deadline passed: count and bytes of some owners are then too low.
 */
bool mu_components_charge(struct mu_components *components);

#endif

/*
 * How many bytes an owner reaches at most: one that cannot be among the largest
 * need not be walked from.
 *
 * A component reaches at most itself and what its targets reach, added up as if
 * they shared nothing. In a sparse graph that is little more than the truth.
 */
#ifndef HEAPWALK_FOLD_BOUNDS_H
#define HEAPWALK_FOLD_BOUNDS_H

#include "heapwalk/fold/components.h"

/* In units of bytes (bounds.c), rounded up. */
struct mu_bound {
	uint32_t all;     /* or MU_BOUND_HUB: the hub and OUTSIDE */
	uint32_t outside; /* what is not below the hub */
};

#define MU_BOUND_HUB UINT32_MAX

struct mu_bounds {
	const struct mu_components *components;
	struct mu_bound *of;       /* of components that are not private */
	struct mu_retained **rest; /* heap: the largest bound is the first */
	size_t num_rest;
};

/*
 * After mu_paths_find(). Returns false without memory. If the deadline passes
 * there are no bounds.
 */
bool mu_bounds_find(struct mu_bounds *bounds,
    const struct mu_components *components, struct mu_arena *arena);

/* Add an owner; then put all into order. */
void mu_bounds_add(struct mu_bounds *bounds, struct mu_retained *owner);
void mu_bounds_order(struct mu_bounds *bounds);

/*
 * Remove the owner with the largest bound and return it; NULL if there is none,
 * or if it is less than LEAST bytes.
 */
struct mu_retained *mu_bounds_next(struct mu_bounds *bounds, size_t least);

#endif

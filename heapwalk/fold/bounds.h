/*
 * How many bytes an owner reaches at most: one that cannot be among the largest
 * need not be walked from. In a sparse graph that is little more than the
 * truth.
 */
#ifndef HEAPWALK_FOLD_BOUNDS_H
#define HEAPWALK_FOLD_BOUNDS_H

#include "heapwalk/fold/components.h"

#define MU_BOUND_UNIT ((size_t)8) /* bytes */
#define MU_BOUND_HUB UINT32_MAX
#define MU_BOUND_MOST (MU_BOUND_HUB - 1) /* or more */

/* Add UNITS to SUM, at most up to MU_BOUND_MOST. */
static inline void
mu_bound_add_units(uint32_t *sum, uint32_t units)
{
	*sum = *sum < MU_BOUND_MOST - units ? *sum + units : MU_BOUND_MOST;
}

/* Add what a target reaches to what SUM reaches. */
static inline void
mu_bound_add(struct mu_bound *sum, const struct mu_bound *target)
{
	mu_bound_add_units(&sum->outside, target->outside);
	if (target->all == MU_BOUND_HUB)
		sum->all = MU_BOUND_HUB;
	else if (sum->all != MU_BOUND_HUB)
		mu_bound_add_units(&sum->all, target->all);
}

/* The component NUMBER, and nothing that it leads to and that is not private.
 */
struct mu_bound mu_bound_alone(
    const struct mu_components *components, uint32_t number);

/* The bound of NUMBER, whose sum is known, as are the bounds on its path. */
struct mu_bound mu_bound_known(
    const struct mu_components *components, uint32_t number);

struct mu_bounds {
	const struct mu_components *components;
	uint32_t *rest; /* heap of slots: the largest bound is the first */
	size_t num_rest;
};

/* Returns false without memory. */
bool mu_bounds_open(struct mu_bounds *bounds,
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

/*
 * The components that a component leads to and that are not private: one for
 * each edge.
 */
#ifndef HEAPWALK_FOLD_TARGETS_H
#define HEAPWALK_FOLD_TARGETS_H

#include "heapwalk/fold/components.h"

struct mu_targets {
	const struct mu_components *components;
	struct mu_tree_edges edges;
	uint32_t number, first, tree; /* the component, and its trees */
};

/* Begin with NUMBER. COMPONENTS must outlive TARGETS. */
static inline void
mu_targets_open(struct mu_targets *targets,
    const struct mu_components *components, uint32_t number)
{
	const struct mu_trees *trees = &components->trees;

	targets->components = components;
	targets->number = number;
	targets->first = targets->tree =
	    mu_tree_of(trees, components->all[number].lowest);
	mu_tree_edges_open(
	    &targets->edges, trees, targets->first, components->deadline);
}

/* Get the next one; false after the last, or if the deadline passes. */
static inline bool
mu_targets_next(struct mu_targets *targets, uint32_t *to)
{
	const struct mu_components *components = targets->components;
	uint32_t tree;

	for (;;) {
		while (mu_tree_edges_next(&targets->edges, &tree)) {
			*to = components->of[tree];
			if (*to != targets->number &&
			    !mu_component_private(&components->all[*to]))
				return true;
		}
		targets->tree = mu_components_after(
		    components, targets->number, targets->tree);
		if (targets->tree == targets->first ||
		    components->deadline->passed)
			return false;
		mu_tree_edges_open(&targets->edges, &components->trees,
		    targets->tree, components->deadline);
	}
}

#endif

/*
 * The components that a component leads to and that are not private: one for
 * each edge.
 *
 * To find them by the edges waits for a cell, its targets and their components.
 * If some were peeled they are all listed once paths are found
 * (heapwalk/fold/lists.h), except for those of the hub, which are hardly
 * needed.
 */
#ifndef HEAPWALK_FOLD_TARGETS_H
#define HEAPWALK_FOLD_TARGETS_H

#include "heapwalk/fold/components.h"

struct mu_targets {
	const struct mu_components *components;
	bool listed;              /* or the edges tell */
	const uint32_t *at, *end; /* of the list */
	struct mu_tree_edges edges;
	uint32_t number, first, tree; /* the component, and its trees */
};

/* Begin with NUMBER, by its edges. COMPONENTS must outlive TARGETS. */
static inline void
mu_targets_find(struct mu_targets *targets,
    const struct mu_components *components, uint32_t number)
{
	const struct mu_trees *trees = &components->trees;

	targets->components = components;
	targets->listed = false;
	targets->number = number;
	targets->first = targets->tree =
	    mu_tree_of(trees, components->all[number].lowest);
	mu_tree_edges_open(
	    &targets->edges, trees, targets->first, components->deadline);
}

/* Get the next one; false after the last, or if the deadline passes. */
static inline bool
mu_targets_find_next(struct mu_targets *targets, uint32_t *to)
{
	const struct mu_components *components = targets->components;
	uint32_t tree;

	for (;;) {
		while (mu_tree_edges_next(&targets->edges, &tree)) {
			*to = mu_component_of_tree(components, tree);
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

/* mu_targets_find() by a list, if there is one. */
static inline void
mu_targets_open(struct mu_targets *targets,
    const struct mu_components *components, uint32_t number)
{
	const struct mu_lists *lists = &components->lists;
	uint32_t list = components->num_components - 1 - number;

	if (!components->listed || number == components->hub) {
		mu_targets_find(targets, components, number);
		return;
	}
	targets->listed = true;
	targets->at = &lists->targets[lists->first[list]];
	targets->end = &lists->targets[lists->first[list + 1]];
	mu_deadline_passed(
	    components->deadline, 8 + (size_t)(targets->end - targets->at));
}

/* mu_targets_find_next() after mu_targets_open(). */
static inline bool
mu_targets_next(struct mu_targets *targets, uint32_t *to)
{
	if (!targets->listed)
		return mu_targets_find_next(targets, to);
	if (targets->at == targets->end)
		return false;
	*to = *targets->at++;
	return true;
}

#endif

#include "heapwalk/fold/targets.h"

#define ROOM_SHARE 4 /* lists take at most that share of what is left */

void
mu_targets_find(struct mu_targets *targets,
    const struct mu_components *components, uint32_t number)
{
	const struct mu_trees *trees = &components->trees;

	targets->components = components;
	targets->at = NULL;
	targets->number = number;
	targets->first = targets->tree =
	    mu_tree_of(trees, components->all[number].lowest);
	mu_tree_edges_open(
	    &targets->edges, trees, targets->first, components->deadline);
}

bool
mu_targets_find_next(struct mu_targets *targets, uint32_t *to)
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

void
mu_target_lists_open(struct mu_target_lists *lists,
    const struct mu_components *components, struct mu_arena *arena)
{
	size_t count = (size_t)components->num_components + 1;
	size_t bytes = (count + components->num_edges) * sizeof(uint32_t);
	const struct mu_lost *lost = components->trees.lost;

	*lists = (struct mu_target_lists) { .lists = NULL };
	if (lost->cells == NULL || lost->graph->reads ||
	    components->num_edges > UINT32_MAX ||
	    bytes > (arena->limit - arena->used) / ROOM_SHARE)
		return;
	lists->lists =
	    mu_arena_alloc_table(arena, count, sizeof(*lists->lists));
	lists->listed = mu_arena_alloc_table(
	    arena, components->num_edges, sizeof(*lists->listed));
	if (lists->listed == NULL)
		lists->lists = NULL;
}

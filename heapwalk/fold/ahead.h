/*
 * Call for memory some steps before it is read. Components are noted by tree
 * and described by number, both in no order: each step would wait for main
 * memory.
 */
#ifndef HEAPWALK_FOLD_AHEAD_H
#define HEAPWALK_FOLD_AHEAD_H

#include "heapwalk/fold/components.h"
#include "mu/bits.h"

#define MU_AHEAD 16      /* steps */
#define MU_AHEAD_EDGES 8 /* of a tree; more are read in the order of memory */

/* gcc drops calls of what only prefetches, as if that had no effect. */
#define MU_AHEAD_INLINE static inline __attribute__((always_inline))

/*
 * Before component NUMBER is looked at or changed: one in four is in two lines
 * of the cache.
 */
MU_AHEAD_INLINE void
mu_ahead_component(const struct mu_components *components, uint32_t number)
{
	const struct mu_component *one = &components->all[number];

	__builtin_prefetch(one, 1);
	__builtin_prefetch((const char *)(one + 1) - 1, 1);
}

/* Before the number of TREE's component is read. */
MU_AHEAD_INLINE void
mu_ahead_number(const struct mu_components *components, uint32_t tree)
{
	if (components->numbers.left_out == NULL)
		__builtin_prefetch(&components->numbers.of[tree]);
}

/* Before the component of TREE is described. */
MU_AHEAD_INLINE void
mu_ahead_described(const struct mu_components *components, uint32_t tree)
{
	tree += MU_AHEAD;
	if (tree < components->trees.num_trees)
		mu_ahead_component(
		    components, mu_component_of_tree(components, tree));
}

/* The same for a block. */
MU_AHEAD_INLINE void
mu_ahead_block(const struct mu_components *components, uint32_t node)
{
	node += MU_AHEAD;
	if (node < components->trees.lost->num_nodes)
		mu_ahead_component(
		    components, mu_component_of(components, node));
}

/* Before the edges of NODE are read: its cell is there. */
MU_AHEAD_INLINE void
mu_ahead_cell(const struct mu_lost *lost, uint32_t node)
{
	uint32_t cell = lost->cells[node];

	if (cell - 1 < MU_CELL_READ - 1)
		__builtin_prefetch(&lost->graph->targets[cell - 1]);
}

/* The trees to which the edges of TREE lead, as far as these are stored. */
static inline unsigned
mu_ahead_targets(const struct mu_trees *trees, uint32_t tree,
    uint32_t targets[MU_AHEAD_EDGES])
{
	unsigned count = 0;
	const uint32_t *at;
	uint32_t one;

	if (!mu_tree_edges_stored(trees, tree, &at, &one))
		return 0;
	while (at != NULL && count < MU_AHEAD_EDGES) {
		targets[count++] = *at & ~MU_TARGET_LAST;
		at = *at & MU_TARGET_LAST ? NULL : at + 1;
	}
	return count;
}

/*
 * Before the components that TREE leads to are looked at. Call it for the tree
 * that is 2 * MU_AHEAD steps away with DESCRIBED false, and then again.
 */
MU_AHEAD_INLINE void
mu_ahead_edges(
    const struct mu_components *components, uint32_t tree, bool described)
{
	uint32_t targets[MU_AHEAD_EDGES], number;
	unsigned count = mu_ahead_targets(&components->trees, tree, targets);

	while (count-- > 0) {
		if (!described) {
			mu_ahead_number(components, targets[count]);
			continue;
		}
		number = mu_component_of_tree(components, targets[count]);
		mu_ahead_component(components, number);
		__builtin_prefetch(&components->paths[number]);
	}
}

/* Before what is in LIST is looked at. */
MU_AHEAD_INLINE void
mu_ahead_list(const struct mu_components *components, uint32_t list)
{
	const struct mu_lists *lists = &components->lists;
	const uint32_t *at = &lists->targets[lists->first[list]];
	const uint32_t *end = &lists->targets[lists->first[list + 1]];

	for (; at < end; at++) {
		mu_ahead_component(components, *at);
		__builtin_prefetch(&components->paths[*at]);
	}
}

/*
 * Before the trees of component I are visited, each component in turn.
 */
MU_AHEAD_INLINE void
mu_ahead_visit(const struct mu_components *components, uint32_t i)
{
	uint32_t left = components->num_components - i, far;
	const struct mu_lost *lost = components->trees.lost;
	const struct mu_component *one[5];

	if (left <= MU_AHEAD)
		return;
	if (mu_lists_peeled(&components->lists, left - 1 - MU_AHEAD)) {
		if (!components->all[i + MU_AHEAD].complete)
			mu_ahead_list(components, left - 1 - MU_AHEAD);
		return;
	}
	if (lost->cells == NULL || components->trees.of != NULL)
		return;
	for (far = 1; far < 5; far++) {
		one[far] = NULL;
		if (left > far * MU_AHEAD &&
		    !components->all[i + far * MU_AHEAD].complete)
			one[far] = &components->all[i + far * MU_AHEAD];
	}
	if (one[4] != NULL)
		__builtin_prefetch(&lost->cells[one[4]->lowest]);
	if (one[3] != NULL)
		mu_ahead_cell(lost, one[3]->lowest);
	if (one[2] != NULL)
		mu_ahead_edges(components, one[2]->lowest, false);
	if (one[1] != NULL)
		mu_ahead_edges(components, one[1]->lowest, true);
}

#endif

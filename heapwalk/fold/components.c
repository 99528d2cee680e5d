#include "heapwalk/fold/components.h"

#include <string.h>

#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/component_sums.h"
#include "heapwalk/fold/cycles.h"
#include "heapwalk/fold/scc.h"
#include "mu/bits.h"

#define NO_TREE 0x7fffffffu /* in mu_component.lowest */

/*
 * Note that PARENT leads to CHILD. What several lead to keeps the first of them
 * until add_up_private(), which looks at that one in the order of numbers.
 */
static inline void
note_parent(struct mu_component *all, uint32_t parent, uint32_t child)
{
	struct mu_component *one = &all[child];

	if (one->visitor != UINT32_MAX)
		one->visitor++;
	if (one->parent == MU_NO_PARENT) {
		one->parent = parent;
	} else if (one->parent != parent) {
		one->below_hub = 1;
		all[parent].complete = 0;
	}
}

MU_AHEAD_INLINE void
call_targets(const struct mu_components *components, const struct mu_scc *scc,
    uint32_t tree, bool described)
{
	bool inside = scc->giant != NULL && mu_bit(scc->giant, tree);

	if (!inside || !scc->ends)
		mu_ahead_edges(
		    components, tree, inside ? scc->giant : NULL, described);
}

/* Before the component of TREE is described, and those that it leads to. */
MU_AHEAD_INLINE void
call_ahead(const struct mu_components *components, const struct mu_scc *scc,
    uint32_t tree)
{
	mu_ahead_described(components, tree);
	if (components->trees.num_trees - tree <= 2 * MU_AHEAD)
		return;
	call_targets(components, scc, tree + 2 * MU_AHEAD, false);
	call_targets(components, scc, tree + MU_AHEAD, true);
}

/*
 * Find the lowest tree of each component, and the components that lead to it.
 */
static void
find_parents(struct mu_components *components, const struct mu_scc *scc)
{
	const struct mu_trees *trees = &components->trees;
	struct mu_component *all = components->all;
	struct mu_tree_edges edges;
	uint32_t tree, target, from, to;
	bool inside;

	for (from = 0; from < components->num_components; from++)
		all[from] = (struct mu_component) {
			.parent = MU_NO_PARENT, .complete = 1, .lowest = NO_TREE
		};
	for (tree = 0; tree < trees->num_trees; tree++) {
		call_ahead(components, scc, tree);
		from = components->of[tree];
		if (all[from].lowest == NO_TREE)
			all[from].lowest = mu_tree_head(trees, tree);
		inside = scc->giant != NULL && mu_bit(scc->giant, tree);
		if ((inside && scc->ends) ||
		    mu_tree_first(trees, tree) == MU_NO_NODE)
			continue;
		mu_tree_edges_open(&edges, trees, tree, components->deadline);
		while (mu_tree_edges_next(&edges, &target)) {
			if (inside && mu_bit(scc->giant, target))
				continue;
			to = components->of[target];
			if (from == to)
				continue;
			note_parent(all, from, to);
			components->num_edges++;
		}
		if (components->deadline->passed)
			return;
	}
}

/*
 * What leads to a component that is not complete is not complete. Others that
 * are private are added to the one that leads to them; children have lower
 * numbers, so they are added up before their parents.
 */
static void
add_up_private(struct mu_components *components)
{
	struct mu_component *all = components->all, *child, *parent;
	uint32_t count = components->num_components, i;

	for (i = 0; i < count; i++) {
		if (count - i > MU_AHEAD &&
		    all[i + MU_AHEAD].parent < MU_MANY_PARENT)
			mu_ahead_component(
			    components, all[i + MU_AHEAD].parent);
		child = &all[i];
		if (child->parent >= MU_MANY_PARENT)
			continue;
		parent = &all[child->parent];
		if (child->below_hub) {
			child->below_hub = 0;
			child->parent = MU_MANY_PARENT;
			parent->complete = 0;
			continue;
		}
		if (!child->complete) {
			parent->complete = 0;
			continue;
		}
		parent->count += child->count;
		parent->bytes += child->bytes;
	}
}

/* What the giant component leads to is known: that is the hub. */
static void
sum_giant(struct mu_components *components, const struct mu_scc *scc)
{
	struct mu_retained *sum = &components->hub_sum;
	struct mu_component *one;
	uint32_t i;

	if (scc->giant == NULL || scc->ends ||
	    components->all[scc->giant_number].complete)
		return;
	components->hub = scc->giant_number;
	*sum = (struct mu_retained) { .known = true,
		.component = components->hub };
	for (i = 0; i <= components->hub; i++) {
		one = &components->all[i];
		if (!mu_bit(scc->below,
			mu_tree_of(&components->trees, one->lowest)))
			continue;
		one->below_hub = i != components->hub;
		if (mu_component_private(one))
			continue;
		sum->bytes += one->bytes;
		sum->count += one->count;
	}
}

/*
 * Link the trees of each component in a ring. Readers walk it where the sums of
 * a component are not complete; if all are, the ring is not made.
 */
static enum mu_status
link_trees(struct mu_components *components, const struct mu_scc *scc,
    struct mu_arena *arena)
{
	uint32_t num_trees = components->trees.num_trees, tree, i, first, *next;

	for (i = 0; i < components->num_searched; i++)
		if (!components->all[i].complete)
			break;
	if (i == components->num_searched ||
	    components->num_components == num_trees)
		return MU_OK;
	next = scc->spare[0].count >= num_trees
	    ? memset(scc->spare[0].room, 0, num_trees * sizeof(*next))
	    : mu_arena_alloc_table(arena, num_trees, sizeof(*next));
	if (next == NULL)
		return MU_ERR_NO_MEMORY;
	for (tree = 0; tree < num_trees; tree++) {
		i = components->of[tree];
		if (i >= components->num_searched)
			continue;
		first =
		    mu_tree_of(&components->trees, components->all[i].lowest);
		if (tree == first)
			continue;
		next[tree] = next[first] != 0 ? next[first] : 1 + first;
		next[first] = 1 + tree;
	}
	components->next_tree = next;
	return MU_OK;
}

/*
 * If trees are nodes, the memory of their parents, which are known by now, is
 * reused.
 */
static bool
alloc_components(struct mu_components *components, struct mu_lost *lost,
    struct mu_arena *arena)
{
	size_t count = components->trees.num_trees;

	if (components->trees.of != NULL) {
		components->of =
		    mu_arena_alloc_table(arena, count, sizeof(*components->of));
	} else {
		components->of = lost->parents;
		memset(components->of, 0, count * sizeof(*components->of));
	}
	return components->of != NULL;
}

static enum mu_status
describe(struct mu_components *components, const struct mu_scc *scc,
    struct mu_arena *arena)
{
	enum mu_status status;

	components->num_components = scc->num_components;
	components->num_searched = scc->num_searched;
	components->all = mu_arena_alloc_table(
	    arena, components->num_components, sizeof(*components->all));
	if (components->all == NULL)
		return MU_ERR_NO_MEMORY;
	find_parents(components, scc);
	if (scc->giant_lowest != MU_NO_NODE)
		components->all[components->of[scc->giant_lowest]].lowest =
		    scc->giant_lowest;
	status = mu_cycles_choose_first(components, arena);
	if (status != MU_OK)
		return status;
	mu_component_sums(components);
	if (components->deadline->passed)
		return MU_ERR_TIMEOUT;
	add_up_private(components);
	sum_giant(components, scc);
	if (scc->spare[1].count >= components->num_components)
		components->pending = scc->spare[1].room;
	return link_trees(components, scc, arena);
}

enum mu_status
mu_components_find(struct mu_components *components, struct mu_lost *lost,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	enum mu_status status;
	struct mu_scc scc;

	*components =
	    (struct mu_components) { .hub = MU_NO_HUB, .deadline = deadline };
	status = mu_trees_find(&components->trees, lost, deadline);
	if (status == MU_OK && !alloc_components(components, lost, arena))
		status = MU_ERR_NO_MEMORY;
	if (status == MU_OK)
		status = mu_scc_find(
		    &scc, &components->trees, components->of, arena, deadline);
	return status == MU_OK ? describe(components, &scc, arena) : status;
}

void
mu_components_reach(const struct mu_components *components, uint32_t component,
    size_t *count, size_t *bytes)
{
	const struct mu_component *one = &components->all[component];
	const struct mu_retained *retained = NULL;
	uint32_t next =
	    components->paths != NULL ? components->paths[component].next : 0;

	if (component == components->hub)
		retained = &components->hub_sum;
	else if (next & MU_PATH_SLOT)
		retained = &components->retained[next & ~MU_PATH_SLOT];
	*count = retained != NULL ? retained->count : one->count;
	*bytes = retained != NULL ? retained->bytes : one->bytes;
}

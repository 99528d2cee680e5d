#include "heapwalk/fold/components.h"

#include <string.h>

#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/component_sums.h"
#include "heapwalk/fold/cycles.h"
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

/*
 * Edges that wait for memory: after AHEAD more of them the target is replaced
 * by its component, and after as many again its parent is noted.
 */
struct noting {
	struct mu_components *components;
	uint32_t from[2 * MU_AHEAD], to[2 * MU_AHEAD];
	uint32_t count; /* of all edges */
};

/* One step for the edges before the newest. */
MU_AHEAD_INLINE void
note_ahead(struct noting *noting)
{
	struct mu_components *components = noting->components;
	uint32_t near = (noting->count - MU_AHEAD) % (2 * MU_AHEAD);
	uint32_t last = noting->count % (2 * MU_AHEAD);

	if (noting->count >= MU_AHEAD) {
		noting->to[near] =
		    mu_component_of_tree(components, noting->to[near]);
		mu_ahead_component(components, noting->to[near]);
	}
	if (noting->count >= 2 * MU_AHEAD &&
	    noting->from[last] != noting->to[last])
		note_parent(
		    components->all, noting->from[last], noting->to[last]);
}

/* Component FROM leads to the tree TARGET. */
static inline void
note_edge(struct noting *noting, uint32_t from, uint32_t target)
{
	uint32_t at = noting->count % (2 * MU_AHEAD);

	note_ahead(noting);
	mu_ahead_number(noting->components, target);
	noting->from[at] = from;
	noting->to[at] = target;
	noting->count++;
}

/* Note all that wait. */
static void
note_rest(struct noting *noting)
{
	uint32_t i;

	for (i = 0; i < 2 * MU_AHEAD && noting->count > 0; i++)
		note_edge(
		    noting, mu_component_of_tree(noting->components, 0), 0);
}

/* Describe the components that are listed, and replace listed trees by them. */
static void
find_listed(struct mu_components *components)
{
	const struct mu_lists *lists = &components->lists;
	struct mu_component *all = components->all;
	uint32_t number = components->num_components, i, at = 0, to;
	uint32_t *targets = lists->targets, *of = components->numbers.of, tree;

	for (i = 0; i < lists->count && !components->deadline->passed; i++) {
		tree = lists->trees[i];
		all[--number].lowest = mu_tree_head(&components->trees, tree);
		all[number].count = mu_components_counted(components, number) &&
		    tree < components->trees.lost->num_blocks;
		mu_deadline_passed(
		    components->deadline, 8 + lists->first[i + 1] - at);
		for (; at < lists->first[i + 1]; at++) {
			__builtin_prefetch(&of[targets[at + MU_LISTS_AHEAD]]);
			mu_ahead_component(
			    components, of[targets[at + MU_LISTS_AHEAD / 2]]);
			to = targets[at] = of[targets[at]];
			note_parent(all, number, to);
		}
	}
}

/* Note what TREE leads to, except for the giant component if it is in that. */
static void
note_tree(struct noting *noting, const struct mu_scc *scc, uint32_t tree)
{
	struct mu_components *components = noting->components;
	const struct mu_trees *trees = &components->trees;
	bool inside = scc->giant != NULL && mu_bit(scc->giant, tree);
	uint32_t from = mu_component_of_tree(components, tree), target;
	struct mu_tree_edges edges;

	if ((inside && scc->ends) || mu_tree_first(trees, tree) == MU_NO_NODE)
		return;
	mu_tree_edges_open(&edges, trees, tree, components->deadline);
	while (mu_tree_edges_next(&edges, &target))
		if (!inside || !mu_bit(scc->giant, target))
			note_edge(noting, from, target);
}

/*
 * Find the lowest tree of each component, and the components that lead to it.
 */
static void
find_parents(struct mu_components *components, const struct mu_scc *scc)
{
	const struct mu_trees *trees = &components->trees;
	struct mu_component *all = components->all;
	struct noting noting = { .components = components };
	uint32_t tree, from, listed;

	for (from = 0; from < components->num_components; from++)
		all[from] = (struct mu_component) {
			.parent = MU_NO_PARENT, .complete = 1, .lowest = NO_TREE
		};
	find_listed(components);
	listed = components->num_components - components->lists.count;
	for (tree = 0; tree < trees->num_trees && listed > 0 &&
	     !components->deadline->passed;
	     tree++) {
		from = mu_component_of_tree(components, tree);
		if (from >= listed)
			continue;
		mu_ahead_described(components, tree);
		if (all[from].lowest == NO_TREE)
			all[from].lowest = mu_tree_head(trees, tree);
		note_tree(&noting, scc, tree);
	}
	note_rest(&noting);
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
		i = mu_component_of_tree(components, tree);
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

static enum mu_status
describe(struct mu_components *components, const struct mu_scc *scc,
    struct mu_arena *arena)
{
	enum mu_status status;

	components->numbers = scc->numbers;
	components->num_components = scc->num_components;
	components->num_searched = scc->num_searched;
	components->lists = scc->lists;
	components->all = mu_arena_alloc_table(
	    arena, components->num_components, sizeof(*components->all));
	if (components->all == NULL)
		return MU_ERR_NO_MEMORY;
	find_parents(components, scc);
	if (scc->giant_lowest != MU_NO_NODE)
		components->all[scc->giant_number].lowest = scc->giant_lowest;
	status = mu_cycles_choose_first(components, arena);
	if (status != MU_OK)
		return status;
	mu_component_sums(components);
	if (components->deadline->passed)
		return MU_ERR_TIMEOUT;
	add_up_private(components);
	sum_giant(components, scc);
	if (components->lists.first != NULL)
		components->pending = components->lists.trees;
	else if (scc->spare[1].count >= components->num_components)
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
	mu_lost_lend_marks(lost);
	status = mu_trees_find(&components->trees, lost, deadline);
	if (status == MU_OK)
		status = mu_scc_find(&scc, &components->trees, arena, deadline);
	if (status == MU_OK)
		status = describe(components, &scc, arena);
	mu_lost_give_marks_back(lost);
	return status;
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

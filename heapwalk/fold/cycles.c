/*
 * A node of a cycle's tree is in the cycle if something below it in the tree
 * leads to a head of the cycle; all heads are in it. If every node of the
 * cycle's trees leads to another one of them, all of them are in it, since
 * trees end.
 */
#include "heapwalk/fold/cycles.h"

#include "mu/bits.h"

/* Values of visitor for owners that are cycles; 0 for other owners. */
enum { WHOLE = 1, PARTLY, DONE };

struct search {
	struct mu_components *components;
	struct mu_arena *arena;
	uint64_t *seen;  /* bits of nodes already looked below; or NULL */
	uint32_t *stack; /* nodes to look below */
};

static struct mu_component *
component_of(const struct mu_components *components, uint32_t node)
{
	return &components->all[mu_component_of(components, node)];
}

/*
 * An owner is a cycle if something leads to its head. Returns the number of
 * such owners.
 */
static size_t
count_cycles(struct mu_components *components)
{
	const struct mu_trees *trees = &components->trees;
	struct mu_component *component;
	size_t count = 0;
	uint32_t tree;

	for (tree = 0; tree < trees->num_trees; tree++) {
		component =
		    &components->all[mu_component_of_tree(components, tree)];
		if ((trees->heads[tree] & MU_HEAD_LED) == 0 ||
		    component->parent != MU_NO_PARENT)
			continue;
		component->visitor = WHOLE;
		count++;
	}
	return count;
}

static bool
leads_on(const struct mu_components *components, uint32_t node,
    const struct mu_component *component)
{
	const struct mu_lost *lost = components->trees.lost;
	struct mu_edges edges;
	uint32_t target;

	mu_edges_open(&edges, lost, node, mu_edges_first(lost, node),
	    components->deadline);
	while (mu_edges_next(&edges, &target))
		if (component_of(components, target) == component)
			return true;
	return false;
}

static void
find_whole(struct mu_components *components)
{
	struct mu_component *component;
	uint32_t node;

	for (node = 0; node < components->trees.lost->num_nodes &&
	     !components->deadline->passed;
	     node++) {
		component = component_of(components, node);
		if (component->parent == MU_NO_PARENT &&
		    component->visitor == WHOLE &&
		    !leads_on(components, node, component))
			component->visitor = PARTLY;
	}
}

/*
 * True if a word of NODE leads to a head; other targets are pushed on the
 * stack.
 */
static bool
look_below(const struct search *search, uint32_t node,
    const struct mu_component *component, uint32_t *depth)
{
	const struct mu_components *components = search->components;
	const struct mu_lost *lost = components->trees.lost;
	struct mu_edges edges;
	uint32_t target, tree;

	mu_edges_open(&edges, lost, node, mu_edges_first(lost, node),
	    components->deadline);
	while (mu_edges_next(&edges, &target)) {
		if (component_of(components, target) != component)
			continue;
		if (mu_tree_entered(&components->trees, target, &tree))
			return true;
		if (!mu_bit(search->seen, target))
			search->stack[(*depth)++] = target;
		mu_bit_set(search->seen, target);
	}
	return false;
}

/*
 * True if NODE is in the cycle. What was looked below before does not lead
 * back.
 */
static bool
leads_back(const struct search *search, uint32_t node,
    const struct mu_component *component)
{
	uint32_t depth = 0, tree;

	if (component->visitor == WHOLE ||
	    mu_tree_entered(&search->components->trees, node, &tree))
		return true;
	if (mu_bit(search->seen, node))
		return false;
	mu_bit_set(search->seen, node);
	search->stack[depth++] = node;
	while (depth > 0 && !search->components->deadline->passed)
		if (look_below(
			search, search->stack[--depth], component, &depth))
			return true;
	return false;
}

static bool
make_room(struct search *search)
{
	size_t count = search->components->trees.lost->num_nodes;

	search->seen = mu_arena_alloc(
	    search->arena, count / 64 + 1, sizeof(*search->seen));
	search->stack =
	    mu_arena_alloc_table(search->arena, count, sizeof(*search->stack));
	return search->seen != NULL && search->stack != NULL;
}

enum mu_status
mu_cycles_choose_first(struct mu_components *components, struct mu_arena *arena)
{
	struct search search = { components, arena, NULL, NULL };
	struct mu_component *component;
	uint32_t node;

	if (components->trees.first == NULL || count_cycles(components) == 0)
		return MU_OK;
	find_whole(components);
	for (node = 0; node < components->trees.lost->num_nodes &&
	     !components->deadline->passed;
	     node++) {
		component = component_of(components, node);
		if (component->parent != MU_NO_PARENT ||
		    (component->visitor != WHOLE &&
			component->visitor != PARTLY))
			continue;
		if (component->visitor == PARTLY && search.seen == NULL &&
		    !make_room(&search))
			return MU_ERR_NO_MEMORY;
		if (leads_back(&search, node, component)) {
			component->lowest = node;
			component->visitor = DONE;
		}
	}
	return MU_OK;
}

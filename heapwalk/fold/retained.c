/*
 * The retained size of each owner: all that can be reached from it.
 *
 * Owners whose reach is a tree are done already (heapwalk/fold/components.c).
 * Those that reach what few other components reach are added up from these in
 * one pass (heapwalk/fold/paths.c). For the others no method is known that is
 * linear for every graph: an owner walks what it reaches, until the deadline,
 * if it may be one of the largest (heapwalk/fold/bounds.c). In practice that is
 * slow if most owners lead to one place, such as the giant component of a
 * random graph: the hub. It is added up first; an owner that reaches it need
 * not look below it.
 */
#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/bounds.h"
#include "heapwalk/fold/components.h"
#include "heapwalk/fold/paths.h"
#include "heapwalk/fold/top_n.h"
#include "mu/bisect.h"

#define AHEAD 4 /* steps; few components are pending at a time */

/* The retained size of OWNER, as far as it is known. */
struct retained_sum {
	struct mu_components *components;
	uint32_t owner;
	size_t bytes;
	uint32_t count;
};

/* Add NUMBER alone; what is below it is pending. */
static void
add(struct retained_sum *sum, uint32_t number)
{
	struct mu_components *components = sum->components;
	const struct mu_component *component = &components->all[number];
	uint32_t next = mu_components_next(components, number);
	size_t count, bytes;

	if (number == components->hub) {
		sum->count += components->hub_sum.count;
		sum->bytes += components->hub_sum.bytes;
		return;
	}
	sum->count += component->count;
	sum->bytes += component->bytes;
	if (next != MU_NO_COMPONENT) {
		mu_components_reach(components, next, &count, &bytes);
		sum->count -= (uint32_t)count;
		sum->bytes -= bytes;
	}
	if (!component->complete)
		components->pending[components->num_pending++] = number;
}

/* Add NUMBER, unless it was added already, or defer it. */
static void
add_new(struct retained_sum *sum, uint32_t number, bool defer)
{
	struct mu_components *components = sum->components;
	struct mu_component *child = &components->all[number];

	if (child->visitor == sum->owner + 1)
		return;
	child->visitor = sum->owner + 1;
	if (defer && child->below_hub)
		components->deferred[components->num_deferred++] = number;
	else
		add(sum, number);
}

/* Add what FROM points at, unless it was added already. */
static void
add_children(struct retained_sum *sum, uint32_t from, bool defer)
{
	struct mu_components *components = sum->components;
	const struct mu_trees *trees = &components->trees;
	uint32_t first = mu_tree_of(trees, components->all[from].lowest);
	uint32_t tree = first, target;
	uint32_t next = mu_components_next(components, from);
	struct mu_tree_edges edges;

	if (next != MU_NO_COMPONENT) {
		mu_deadline_passed(components->deadline, 8);
		add_new(sum, next, defer);
		return;
	}
	do {
		mu_tree_edges_open(&edges, trees, tree, components->deadline);
		while (mu_tree_edges_next(&edges, &target))
			if (!mu_component_private(
				&components->all[components->of[target]]))
				add_new(sum, components->of[target], defer);
		tree = mu_components_after(components, tree);
	} while (tree != first && !components->deadline->passed);
}

static void
walk(struct retained_sum *sum, bool defer)
{
	struct mu_components *components = sum->components;
	uint32_t i;

	for (i = 0;
	     i < components->num_pending && !components->deadline->passed;
	     i++) {
		mu_ahead_visit(components, components->pending, i,
		    components->num_pending, AHEAD);
		add_children(sum, components->pending[i], defer);
	}
	components->num_pending = 0;
}

static void
sum_owner(
    struct mu_components *components, uint32_t owner, struct mu_retained *slot)
{
	struct mu_component *all = components->all;
	struct retained_sum sum = { components, owner, all[owner].bytes,
		all[owner].count };
	uint32_t i;

	all[owner].visitor = owner + 1;
	components->pending[0] = owner;
	components->num_pending = 1;
	components->num_deferred = 0;
	walk(&sum, true);
	if (components->hub == MU_NO_HUB ||
	    all[components->hub].visitor != owner + 1) {
		for (i = 0; i < components->num_deferred; i++)
			add(&sum, components->deferred[i]);
		walk(&sum, false);
	}
	*slot = (struct mu_retained) { sum.bytes, sum.count,
		!components->deadline->passed, owner };
}

/*
 * The shared component that most edges lead to and that is not a tree, unless
 * there is a giant one.
 */
static uint32_t
find_hub(const struct mu_components *components)
{
	const struct mu_component *component;
	uint64_t score, best = 0;
	uint32_t i, hub = MU_NO_HUB;

	for (i = 0; i < components->num_components; i++) {
		component = &components->all[i];
		if (component->complete || component->parent != MU_MANY_PARENT)
			continue;
		score = (uint64_t)component->visitor * component->count;
		if (score > best) {
			best = score;
			hub = i;
		}
	}
	return hub;
}

static void
sum_hub(struct mu_components *components, uint32_t hub)
{
	struct mu_component *all = components->all;
	uint32_t i;

	if (hub == MU_NO_HUB)
		return;
	sum_owner(components, hub, &components->hub_sum);
	for (i = 0; i < hub; i++)
		all[i].below_hub = all[i].visitor == hub + 1;
	components->hub = hub;
}

/* The number of owners that are not complete. */
static size_t
count_open(const struct mu_components *components)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < components->num_components; i++)
		count += components->all[i].parent == MU_NO_PARENT &&
		    !components->all[i].complete;
	return count;
}

static bool
make_room(
    struct mu_components *components, size_t num_open, struct mu_arena *arena)
{
	size_t count = components->num_components;

	components->retained =
	    mu_arena_alloc(arena, num_open, sizeof(*components->retained));
	components->deferred =
	    mu_arena_alloc_table(arena, count, sizeof(*components->deferred));
	components->paths =
	    mu_arena_alloc_table(arena, count, sizeof(*components->paths));
	components->jumps =
	    mu_arena_alloc_table(arena, count, sizeof(*components->jumps));
	if (components->pending == NULL)
		components->pending = mu_arena_alloc_table(
		    arena, count, sizeof(*components->pending));
	return components->retained != NULL && components->deferred != NULL &&
	    components->paths != NULL && components->jumps != NULL &&
	    components->pending != NULL;
}

enum mu_status
mu_components_sum_retained(
    struct mu_components *components, struct mu_arena *arena)
{
	uint32_t hub =
	    components->hub == MU_NO_HUB ? find_hub(components) : MU_NO_HUB;
	size_t count = count_open(components);

	mu_components_unvisit(components);
	if (count == 0)
		return MU_OK;
	if (!make_room(components, count, arena))
		return MU_ERR_NO_MEMORY;
	sum_hub(components, hub);
	mu_paths_find(components);
	return MU_OK;
}

static const struct mu_retained *
find_retained(const struct mu_components *components, uint32_t component)
{
	size_t low = 0;

	if (component == components->hub)
		return &components->hub_sum;
	mu_bisect(low, components->num_retained, i,
	    components->retained[i].component < component);
	return low < components->num_retained &&
		components->retained[low].component == component
	    ? &components->retained[low]
	    : NULL;
}

void
mu_components_reach(const struct mu_components *components, uint32_t component,
    size_t *count, size_t *bytes)
{
	const struct mu_component *one = &components->all[component];
	const struct mu_retained *retained = NULL;

	if (!one->complete &&
	    mu_components_next(components, component) == MU_NO_COMPONENT)
		retained = find_retained(components, component);

	*count = retained != NULL ? retained->count : one->count;
	*bytes = retained != NULL ? retained->bytes : one->bytes;
}

static void
choose(const struct mu_components *components, uint32_t owner,
    struct mu_top_n *top)
{
	struct mu_chosen chosen = { .owner = owner,
		.lowest = components->all[owner].lowest };
	size_t count;

	mu_components_reach(components, owner, &count, &chosen.bytes);
	mu_top_n_add(top, &chosen);
}

/* Add what is known to TOP, and the rest to BOUNDS. */
static void
choose_known(struct mu_components *components, struct mu_top_n *top,
    struct mu_bounds *bounds)
{
	struct mu_retained *slot = components->retained;
	struct mu_retained *end =
	    components->retained + components->num_retained;
	uint32_t i;

	for (i = 0; i < components->num_components; i++) {
		if (components->all[i].parent != MU_NO_PARENT)
			continue;
		if (slot == end || slot->component != i || slot->known)
			choose(components, i, top);
		else
			mu_bounds_add(bounds, slot);
		slot += slot < end && slot->component == i;
	}
}

static enum mu_status
sum_largest(
    struct mu_components *components, size_t limit, struct mu_arena *arena)
{
	struct mu_retained *slot;
	struct mu_bounds bounds;
	struct mu_top_n top;

	if (!mu_top_n_open(&top, limit, arena) ||
	    !mu_bounds_open(&bounds, components, arena))
		return MU_ERR_NO_MEMORY;
	choose_known(components, &top, &bounds);
	mu_bounds_order(&bounds);
	while (!components->deadline->passed &&
	    (slot = mu_bounds_next(&bounds, mu_top_n_least(&top))) != NULL) {
		sum_owner(components, slot->component, slot);
		choose(components, slot->component, &top);
	}
	return MU_OK;
}

enum mu_status
mu_components_sum_owners(
    struct mu_components *components, size_t limit, struct mu_arena *arena)
{
	uint32_t i, open = 0;

	for (i = 0; i < components->num_retained; i++)
		open += !components->retained[i].known;
	if (open == 0)
		return MU_OK;
	mu_components_unvisit(components);
	if (limit < mu_components_owners(components))
		return sum_largest(components, limit, arena);
	for (i = 0;
	     i < components->num_retained && !components->deadline->passed; i++)
		if (!components->retained[i].known)
			sum_owner(components, components->retained[i].component,
			    &components->retained[i]);
	return MU_OK;
}

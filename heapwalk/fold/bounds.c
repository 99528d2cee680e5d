#include "heapwalk/fold/bounds.h"

#define UNIT ((size_t)8)        /* bytes */
#define MOST (MU_BOUND_HUB - 1) /* or more */

static uint32_t
units(size_t bytes)
{
	return bytes / UNIT < MOST ? (uint32_t)((bytes + UNIT - 1) / UNIT)
				   : MOST;
}

static void
add(uint32_t *sum, uint32_t units)
{
	*sum = *sum < MOST - units ? *sum + units : MOST;
}

/* Whether what NUMBER reaches is known. */
static bool
is_known(const struct mu_components *components, uint32_t number)
{
	return components->all[number].complete || number == components->hub ||
	    mu_components_next(components, number) != MU_NO_COMPONENT;
}

static struct mu_bound
bound_known(const struct mu_bounds *bounds, uint32_t number)
{
	const struct mu_components *components = bounds->components;
	const struct mu_component *one = &components->all[number];
	uint32_t next = mu_components_next(components, number);
	struct mu_bound bound = { units(one->bytes), 0 };
	size_t count, bytes = 0;

	if (number == components->hub)
		bound.all = MU_BOUND_HUB;
	if (number == components->hub || one->below_hub)
		return bound;
	if (next != MU_NO_COMPONENT) {
		mu_components_reach(components, next, &count, &bytes);
		bound.outside = bounds->of[next].outside;
		if (bounds->of[next].all == MU_BOUND_HUB)
			bound.all = MU_BOUND_HUB;
	}
	add(&bound.outside, units(one->bytes - bytes));
	return bound;
}

/* Add what the targets of the component NUMBER reach to ITS bound. */
static void
add_targets(
    const struct mu_bounds *bounds, uint32_t number, struct mu_bound *its)
{
	const struct mu_components *components = bounds->components;
	const struct mu_trees *trees = &components->trees;
	uint32_t first = mu_tree_of(trees, components->all[number].lowest);
	uint32_t tree = first, target, to;
	struct mu_tree_edges edges;

	do {
		mu_tree_edges_open(&edges, trees, tree, components->deadline);
		while (mu_tree_edges_next(&edges, &target)) {
			to = components->of[target];
			if (to == number ||
			    mu_component_private(&components->all[to]))
				continue;
			add(&its->outside, bounds->of[to].outside);
			if (bounds->of[to].all == MU_BOUND_HUB)
				its->all = MU_BOUND_HUB;
			else if (its->all != MU_BOUND_HUB)
				add(&its->all, bounds->of[to].all);
		}
		tree = mu_components_after(components, tree);
	} while (tree != first && !components->deadline->passed);
}

static struct mu_bound
bound_of(const struct mu_bounds *bounds, uint32_t number)
{
	const struct mu_component *one = &bounds->components->all[number];
	struct mu_bound bound;

	if (is_known(bounds->components, number))
		return bound_known(bounds, number);
	bound = (struct mu_bound) { units(one->bytes), units(one->bytes) };
	add_targets(bounds, number, &bound);
	if (one->below_hub)
		bound.outside = 0;
	return bound;
}

bool
mu_bounds_find(struct mu_bounds *bounds, const struct mu_components *components,
    struct mu_arena *arena)
{
	size_t count = components->num_components;
	uint32_t i;

	*bounds = (struct mu_bounds) { .components = components };
	bounds->rest = mu_arena_alloc(
	    arena, components->num_retained, sizeof(*bounds->rest));
	bounds->of = mu_arena_alloc_table(arena, count, sizeof(*bounds->of));
	if (bounds->rest == NULL || bounds->of == NULL)
		return false;
	for (i = 0; i < count && !components->deadline->passed; i++)
		if (!mu_component_private(&components->all[i]))
			bounds->of[i] = bound_of(bounds, i);
	return true;
}

/* At most as many bytes are reached from OWNER. */
static size_t
most(const struct mu_bounds *bounds, const struct mu_retained *owner)
{
	const struct mu_components *components = bounds->components;
	struct mu_bound bound = bounds->of[owner->component];

	if (bound.outside == MOST || bound.all == MOST)
		return SIZE_MAX;
	if (bound.all == MU_BOUND_HUB)
		return components->retained[0].bytes + bound.outside * UNIT;
	return bound.all * UNIT;
}

static void
sift_down(struct mu_bounds *bounds, size_t at)
{
	struct mu_retained **rest = bounds->rest, *owner = rest[at];
	size_t child, bytes = most(bounds, owner);

	for (; (child = 2 * at + 1) < bounds->num_rest; at = child) {
		if (child + 1 < bounds->num_rest &&
		    most(bounds, rest[child]) < most(bounds, rest[child + 1]))
			child++;
		if (bytes >= most(bounds, rest[child]))
			break;
		rest[at] = rest[child];
	}
	rest[at] = owner;
}

void
mu_bounds_add(struct mu_bounds *bounds, struct mu_retained *owner)
{
	bounds->rest[bounds->num_rest++] = owner;
}

void
mu_bounds_order(struct mu_bounds *bounds)
{
	size_t i;

	for (i = bounds->num_rest / 2; i-- > 0;)
		sift_down(bounds, i);
}

struct mu_retained *
mu_bounds_next(struct mu_bounds *bounds, size_t least)
{
	struct mu_retained *owner = bounds->rest[0];

	if (bounds->num_rest == 0 || most(bounds, owner) < least)
		return NULL;
	bounds->rest[0] = bounds->rest[--bounds->num_rest];
	if (bounds->num_rest > 0)
		sift_down(bounds, 0);
	return owner;
}

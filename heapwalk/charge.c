/*
 * Every owner is charged for all that can be reached from it.
 *
 * Owners whose reach is a tree are done already (heapwalk/components.c). For
 * the others no way is known that is linear for every graph. What makes the
 * plain walk slow in practice is one place that most owners lead to, such as
 * the giant component of a random graph: the hub. It is added up first; an
 * owner that reaches it then need not look at what is below it.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/components.h"

static void
add(struct mu_components *components, uint32_t owner, uint32_t number)
{
	const struct mu_component *component = &components->all[number];

	components->all[owner].count += component->count;
	components->all[owner].bytes += component->bytes;
	if (!component->complete)
		components->pending[components->num_pending++] = number;
}

/* Charge OWNER for what FROM points at and it was not charged for yet. */
static void
add_children(
    struct mu_components *components, uint32_t owner, uint32_t from, bool defer)
{
	const struct mu_lost *lost = components->lost;
	uint32_t node = components->all[from].lowest, last, target, number;
	struct mu_component *child;
	struct mu_edges edges;

	do {
		mu_edges_open(&edges, lost, node, mu_edges_first(lost, node),
		    components->deadline);
		while (mu_edges_next(&edges, &target)) {
			number = lost->nodes[target].component;
			child = &components->all[number];
			if (child->visitor == owner + 1)
				continue;
			child->visitor = owner + 1;
			if (defer && child->below_hub)
				components
				    ->deferred[components->num_deferred++] =
				    number;
			else
				add(components, owner, number);
		}
		last = node;
		node = components->next_member[node];
	} while (node != last && !components->deadline->passed);
}

static void
walk(struct mu_components *components, uint32_t owner, bool defer)
{
	while (components->num_pending > 0 && !components->deadline->passed)
		add_children(components, owner,
		    components->pending[--components->num_pending], defer);
}

static void
charge(struct mu_components *components, uint32_t owner, uint32_t hub)
{
	struct mu_component *all = components->all;
	uint32_t i;

	all[owner].visitor = owner + 1;
	components->pending[0] = owner;
	components->num_pending = 1;
	components->num_deferred = 0;
	walk(components, owner, true);
	if (hub != MU_NO_HUB && all[hub].visitor == owner + 1)
		return;
	for (i = 0; i < components->num_deferred; i++)
		add(components, owner, components->deferred[i]);
	walk(components, owner, false);
}

/* Of what is shared and no tree, the largest that most edges lead to. */
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
charge_hub(struct mu_components *components, uint32_t hub)
{
	struct mu_component *all = components->all;
	uint32_t i;

	charge(components, hub, MU_NO_HUB);
	for (i = 0; i < hub; i++)
		all[i].below_hub = all[i].visitor == hub + 1;
	all[hub].complete = 1;
}

bool
mu_components_charge(struct mu_components *components)
{
	struct mu_component *all = components->all;
	uint32_t i, hub = find_hub(components);

	for (i = 0; i < components->num_components; i++)
		all[i].visitor = 0;
	if (hub != MU_NO_HUB)
		charge_hub(components, hub);
	components->hub = hub;
	for (i = 0; i < components->num_components; i++) {
		if (all[i].parent == MU_NO_PARENT && !all[i].complete)
			charge(components, i, hub);
		if (components->deadline->passed)
			return false;
	}
	return true;
}

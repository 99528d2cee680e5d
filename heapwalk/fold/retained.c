/*
 * The retained size of each owner: all that can be reached from it.
 *
 * Owners whose reach is a tree are done already (heapwalk/fold/components.c).
 * Those that reach what few other components reach are added up from these in
 * one pass (heapwalk/fold/paths.c). For the others no method is known that is
 * linear for every graph: what owners reach is walked, 64 of them at a time
 * (heapwalk/fold/sources.c), until the deadline, if they may be among the
 * largest (heapwalk/fold/bounds.c). In practice that is slow if most owners
 * lead to one place, such as the giant component of a random graph: the hub. It
 * is added up first; an owner that reaches it need not look below it.
 */
#include <string.h>

#include "heapwalk/fold/bounds.h"
#include "heapwalk/fold/components.h"
#include "heapwalk/fold/paths.h"
#include "heapwalk/fold/sources.h"
#include "heapwalk/fold/top_n.h"

/*
 * Count the owners, and those that are not complete, which is returned. *HUB is
 * the shared component that most edges lead to and that is not a tree. No
 * component is visited any more.
 */
static size_t
look_at_all(struct mu_components *components, uint32_t *hub)
{
	uint64_t score, best = 0;
	struct mu_component *one;
	size_t num_open = 0;
	uint32_t i;

	*hub = MU_NO_HUB;
	for (i = 0; i < components->num_components; i++) {
		one = &components->all[i];
		score = (uint64_t)one->visitor * one->count;
		one->visitor = 0;
		if (one->parent == MU_NO_PARENT) {
			components->num_owners++;
			num_open += !one->complete;
		}
		if (one->parent == MU_MANY_PARENT && !one->complete &&
		    score > best) {
			best = score;
			*hub = i;
		}
	}
	return num_open;
}

static void
sum_hub(struct mu_components *components, uint32_t hub)
{
	struct mu_sources sources;

	if (hub == MU_NO_HUB)
		return;
	mu_sources_open(&sources, components);
	sources.marks = true;
	components->hub_sum.component = hub;
	mu_sources_add(&sources, &components->hub_sum);
	mu_sources_sum(&sources);
	components->all[hub].below_hub = false;
	components->hub = hub;
}

static bool
make_room(
    struct mu_components *components, size_t num_open, struct mu_arena *arena)
{
	size_t count = components->num_components;

	components->retained =
	    mu_arena_alloc(arena, num_open, sizeof(*components->retained));
	components->seen =
	    mu_arena_alloc(arena, count / 64 + 1, sizeof(*components->seen));
	components->paths =
	    mu_arena_alloc_table(arena, count, sizeof(*components->paths));
	components->jumps =
	    mu_arena_alloc_table(arena, count, sizeof(*components->jumps));
	if (components->pending == NULL)
		components->pending = mu_arena_alloc_table(
		    arena, count, sizeof(*components->pending));
	return components->retained != NULL && components->seen != NULL &&
	    components->paths != NULL && components->jumps != NULL &&
	    components->pending != NULL;
}

enum mu_status
mu_components_sum_retained(
    struct mu_components *components, struct mu_arena *arena)
{
	uint32_t hub;
	size_t count = look_at_all(components, &hub);

	if (count == 0)
		return MU_OK;
	if (!make_room(components, count, arena))
		return MU_ERR_NO_MEMORY;
	if (components->hub == MU_NO_HUB)
		sum_hub(components, hub);
	mu_paths_find(components);
	return MU_OK;
}

static size_t
bytes_at(const void *ctx, uint32_t component)
{
	size_t count, bytes;

	mu_components_reach(ctx, component, &count, &bytes);
	return bytes;
}

/* The order of owners with equal bytes makes no difference. */
static void
choose(const struct mu_components *components, uint32_t owner,
    struct mu_top_n *top)
{
	mu_top_n_add(top, bytes_at(components, owner), owner);
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

/*
 * Sum up the owners with the largest bounds, as many as sources can be, and add
 * them to TOP. Returns false if there are none that may be among the largest.
 */
static bool
sum_some(struct mu_components *components, struct mu_bounds *bounds,
    struct mu_top_n *top)
{
	struct mu_retained *slot;
	struct mu_sources sources;
	uint32_t i;

	mu_sources_open(&sources, components);
	while (sources.count < MU_SOURCES &&
	    (slot = mu_bounds_next(bounds, mu_top_n_least(top))) != NULL)
		mu_sources_add(&sources, slot);
	mu_sources_sum(&sources);
	for (i = 0; i < sources.count; i++)
		choose(components, sources.sums[i]->component, top);
	return sources.count > 0;
}

static enum mu_status
sum_largest(
    struct mu_components *components, size_t limit, struct mu_arena *arena)
{
	struct mu_bounds bounds;
	struct mu_top_n top;

	if (!mu_top_n_open(&top, limit, arena) ||
	    !mu_bounds_open(&bounds, components, arena))
		return MU_ERR_NO_MEMORY;
	top.bytes = bytes_at;
	top.ctx = components;
	choose_known(components, &top, &bounds);
	mu_bounds_order(&bounds);
	while (!components->deadline->passed &&
	    sum_some(components, &bounds, &top))
		;
	return MU_OK;
}

static void
sum_all(struct mu_components *components)
{
	struct mu_sources sources;
	uint32_t i = 0;

	while (i < components->num_retained && !components->deadline->passed) {
		mu_sources_open(&sources, components);
		for (;
		     i < components->num_retained && sources.count < MU_SOURCES;
		     i++)
			if (!components->retained[i].known)
				mu_sources_add(
				    &sources, &components->retained[i]);
		mu_sources_sum(&sources);
	}
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
	memset(components->reach, 0,
	    components->num_components * sizeof(*components->reach));
	if (limit < components->num_owners)
		return sum_largest(components, limit, arena);
	sum_all(components);
	return MU_OK;
}

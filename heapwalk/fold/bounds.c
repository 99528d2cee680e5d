#include "heapwalk/fold/bounds.h"

static uint32_t
units(size_t bytes)
{
	return bytes / MU_BOUND_UNIT < MU_BOUND_MOST
	    ? (uint32_t)((bytes + MU_BOUND_UNIT - 1) / MU_BOUND_UNIT)
	    : MU_BOUND_MOST;
}

struct mu_bound
mu_bound_alone(const struct mu_components *components, uint32_t number)
{
	uint32_t alone = units(components->all[number].bytes);

	return (struct mu_bound) { alone, alone };
}

struct mu_bound
mu_bound_known(const struct mu_components *components, uint32_t number)
{
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
		bound.outside = components->paths[next].bound.outside;
		if (components->paths[next].bound.all == MU_BOUND_HUB)
			bound.all = MU_BOUND_HUB;
	}
	mu_bound_add_units(&bound.outside, units(one->bytes - bytes));
	return bound;
}

bool
mu_bounds_open(struct mu_bounds *bounds, const struct mu_components *components,
    struct mu_arena *arena)
{
	*bounds = (struct mu_bounds) { .components = components };
	bounds->rest = mu_arena_alloc(
	    arena, components->num_retained, sizeof(*bounds->rest));
	return bounds->rest != NULL;
}

/* At most as many bytes are reached from OWNER. */
static size_t
most(const struct mu_bounds *bounds, uint32_t slot)
{
	const struct mu_components *components = bounds->components;
	const struct mu_retained *owner = &components->retained[slot];
	struct mu_bound bound = components->paths[owner->component].bound;

	if (bound.outside == MU_BOUND_MOST || bound.all == MU_BOUND_MOST)
		return SIZE_MAX;
	if (bound.all == MU_BOUND_HUB)
		return components->hub_sum.bytes +
		    bound.outside * MU_BOUND_UNIT;
	return bound.all * MU_BOUND_UNIT;
}

static void
sift_down(struct mu_bounds *bounds, size_t at)
{
	uint32_t *rest = bounds->rest, slot = rest[at];
	size_t child, bytes = most(bounds, slot);

	for (; (child = 2 * at + 1) < bounds->num_rest; at = child) {
		if (child + 1 < bounds->num_rest &&
		    most(bounds, rest[child]) < most(bounds, rest[child + 1]))
			child++;
		if (bytes >= most(bounds, rest[child]))
			break;
		rest[at] = rest[child];
	}
	rest[at] = slot;
}

void
mu_bounds_add(struct mu_bounds *bounds, struct mu_retained *owner)
{
	bounds->rest[bounds->num_rest++] =
	    (uint32_t)(owner - bounds->components->retained);
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
	uint32_t slot = bounds->rest[0];

	if (bounds->num_rest == 0 || most(bounds, slot) < least)
		return NULL;
	bounds->rest[0] = bounds->rest[--bounds->num_rest];
	if (bounds->num_rest > 0)
		sift_down(bounds, 0);
	return &bounds->components->retained[slot];
}

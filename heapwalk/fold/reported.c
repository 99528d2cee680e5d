#include "heapwalk/fold/reported.h"

#include "heapwalk/fold/targets.h"

/* Visitor of components that are counted, and of owners with an entry. */
#define REPORTED UINT32_MAX

void
mu_reported_note(struct mu_components *components, uint32_t owner)
{
	components->all[owner].visitor = REPORTED;
}

static bool
is_reported(const struct mu_component *owner, const struct mu_group *groups)
{
	if (owner->visitor == REPORTED)
		return true;
	return (owner->visitor & MU_GROUP) != 0 &&
	    groups[owner->visitor & ~MU_GROUP].reported;
}

/*
 * Make component NUMBER pending, unless it is counted or pending. What is below
 * the hub may be counted with that at last.
 */
static void
add_component(struct mu_reported *reported, struct mu_components *components,
    uint32_t number)
{
	struct mu_component *one = &components->all[number];

	if (one->visitor == REPORTED || one->parent == MU_NO_PARENT)
		return;
	one->visitor = REPORTED;
	if (reported->by_hub && number == components->hub)
		reported->hub = true;
	else if (reported->by_hub && one->below_hub)
		components->deferred[components->num_deferred++] = number;
	else
		components->pending[components->num_pending++] = number;
}

/* Count the blocks of component FROM, and add what they point at. */
static void
count_component(struct mu_reported *reported, struct mu_components *components,
    uint32_t from)
{
	const struct mu_component *one = &components->all[from];
	uint32_t next = mu_components_next(components, from), to;
	struct mu_targets targets;
	size_t count, bytes;

	reported->count += one->count;
	reported->bytes += one->bytes;
	/*
	 * No other node leads to what is below it, and its sum includes all of
	 * that.
	 */
	if (one->complete)
		return;
	if (next != MU_NO_COMPONENT) {
		mu_components_reach(components, next, &count, &bytes);
		reported->count -= count;
		reported->bytes -= bytes;
		mu_deadline_passed(components->deadline, 8);
		add_component(reported, components, next);
		return;
	}
	mu_targets_open(&targets, components, from);
	while (mu_targets_next(&targets, &to))
		add_component(reported, components, to);
}

void
mu_reported_begin(struct mu_components *components)
{
	mu_components_unvisit(components);
	components->num_pending = 0;
}

static void
count_pending(struct mu_reported *reported, struct mu_components *components)
{
	while (components->num_pending > 0 && !components->deadline->passed)
		count_component(reported, components,
		    components->pending[--components->num_pending]);
}

void
mu_reported_add(struct mu_reported *reported, struct mu_components *components,
    uint32_t component)
{
	count_component(reported, components, component);
	count_pending(reported, components);
}

void
mu_reported_count(struct mu_reported *reported,
    struct mu_components *components, const struct mu_group *groups)
{
	uint32_t i;

	components->num_pending = components->num_deferred = 0;
	*reported =
	    (struct mu_reported) { .by_hub = components->hub != MU_NO_HUB };
	for (i = 0; i < components->num_components; i++)
		if (components->all[i].parent == MU_NO_PARENT &&
		    is_reported(&components->all[i], groups))
			mu_reported_add(reported, components, i);
	if (reported->hub) {
		reported->count += components->hub_sum.count;
		reported->bytes += components->hub_sum.bytes;
		return;
	}
	reported->by_hub = false;
	for (i = 0; i < components->num_deferred; i++)
		components->pending[components->num_pending++] =
		    components->deferred[i];
	count_pending(reported, components);
}

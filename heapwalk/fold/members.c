#include "heapwalk/fold/members.h"

/* The owner whose first block is at PLACE is in the group OF - 1; 0: in none.
 */
static void
note(struct mu_groups *groups, uint32_t of, uint32_t place)
{
	const struct mu_grouped *group;
	struct mu_members *members;

	if (of == 0)
		return;
	group = &groups->all[of - 1];
	if (group->rank == 0 || group->size == 0 || place == group->place)
		return;
	members = &groups->members[group->rank - 1];
	if (members->count < MU_GROUP_OTHERS &&
	    (uint64_t)members->seen * MU_GROUP_OTHERS >=
		(uint64_t)members->count * (group->count - 1))
		members->places[members->count++] = place;
	members->seen++;
}

struct alone {
	struct mu_groups *groups;
	const uint32_t *of; /* of the next block */
};

static bool
note_alone(void *ctx, const struct mu_block *block)
{
	struct alone *alone = ctx;

	note(alone->groups, *alone->of++, block->number);
	return true;
}

bool
mu_members_find(struct mu_groups *groups)
{
	const struct mu_components *components = groups->components;
	const struct mu_lost *lost = components->trees.lost;
	struct alone alone = { groups,
		groups->of + components->num_components };
	uint32_t i;

	groups->members = mu_arena_alloc(
	    groups->arena, groups->top.count, sizeof(*groups->members));
	if (groups->members == NULL)
		return false;
	for (i = 0; i < components->num_components; i++)
		if (components->all[i].parent == MU_NO_PARENT)
			note(groups, groups->of[i],
			    mu_lost_place(lost, components->all[i].lowest));
	mu_lost_each_alone(lost, note_alone, &alone);
	return true;
}

static bool
read_owner(
    const struct mu_groups *groups, uint32_t place, struct mu_owner *owner)
{
	const struct mu_components *components = groups->components;
	const struct mu_lost *lost = components->trees.lost;
	uint32_t node = mu_lost_at(lost, place);

	if (node == MU_NO_NODE)
		return mu_owner_read_alone(owner, components, place);
	return mu_owner_read(owner, components,
	    mu_component_of(components, node), lost->graph->blocks->recorder);
}

void
mu_members_describe(
    const struct mu_groups *groups, size_t index, struct mu_lost_group *group)
{
	const struct mu_members *members = &groups->members[index];
	struct mu_owner owner;
	uint32_t i;

	for (i = 0; i < members->count; i++)
		if (read_owner(groups, members->places[i], &owner))
			group->others[group->num_others++] =
			    owner.known.range.begin;
}

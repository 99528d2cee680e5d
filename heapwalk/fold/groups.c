#include "heapwalk/fold/groups.h"

#include "heapwalk/fold/holds.h"
#include "heapwalk/fold/members.h"
#include "heapwalk/fold/reported.h"
#include "heapwalk/subject/read_buffer.h"

#define FIRST_GROUPS ((size_t)64)
#define KEPT 1024u /* a power of 2 */

/* The key of all blocks that have no stack because stacks are sampled. */
#define UNSAMPLED 1

/*
 * Blocks of an owner that are visited: to compare its shape; and for a shape
 * that is shown, or a cycle that may be long.
 */
#define BLOCKS 64
#define WIDE_BLOCKS 1024
#define ALIKE 4

/*
 * Limit of all visits together: so many for each lost block, and at least so
 * many.
 */
#define VISITS_EACH 4
#define VISITS_LEAST ((size_t)1 << 20)

/* Words are kept if so many of the blocks are visited, or one several times. */
#define KEEP_SHARE 4
#define KEEP_PART 4 /* of the memory that is left */

struct mu_stack_key {
	uint64_t key;
	uintptr_t module_address;
	uint32_t stack; /* 0: unused */
};

/* What is known of one owner. */
struct member {
	struct mu_owner owner;
	uint64_t key;
	uintptr_t tag, module_address;
};

static const struct mu_lost *
lost_of(const struct mu_groups *groups)
{
	return groups->components->trees.lost;
}

/*
 * The innermost frame outside of libraries that allocate for their callers
 * (tags.c): its module is the one that allocated.
 */
static uintptr_t
allocating_frame(
    const struct mu_groups *groups, const uintptr_t *frames, size_t count)
{
	const struct mu_tag_module *module;
	size_t i;

	for (i = 0; i < count; i++) {
		module = mu_tags_module(&groups->tags, frames[i]);
		if (module != NULL && !module->runtime)
			return frames[i];
	}
	return 0;
}

/*
 * The key of OWNER's stack, 0 if it has none; MODULE_ADDRESS is the frame that
 * tells its module.
 */
static struct mu_stack_key
find_stack(struct mu_groups *groups, const struct mu_owner *owner,
    const struct mu_recorder *recorder)
{
	uint32_t stack = owner->known.stack;
	struct mu_stack_key found = { .key = 0, .stack = stack }, *kept;
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	size_t i, count;

	kept = &groups->kept[(stack * 0x9e3779b1u >> 16) & (KEPT - 1)];
	if (stack >= MU_STACK_FIRST && kept->stack == stack)
		return *kept;
	count = mu_owner_stack(owner, recorder, frames);
	if (count == 0 && mu_recorder_unsampled(recorder, stack))
		found.key = UNSAMPLED;
	mu_deadline_passed(groups->components->deadline, 64);
	for (i = 0; i < count; i++)
		found.key = mu_tags_mix(found.key + 1, frames[i]);
	found.module_address = allocating_frame(groups, frames, count);
	if (stack >= MU_STACK_FIRST)
		*kept = found;
	return found;
}

/* True if the owner COMPONENT leads to other blocks. */
static bool
leads_on(const struct mu_components *components, uint32_t component)
{
	const struct mu_component *one = &components->all[component];

	return one->count > 1 || !one->complete;
}

/* Move the first block of the owner COMPONENT to where a cycle should begin. */
static void
move_start(struct mu_groups *groups, uint32_t component, uint32_t number)
{
	struct mu_components *components = groups->components;
	struct mu_shape *shape = &groups->shape;
	size_t max = shape->max;
	uint32_t start, node;

	if (groups->visits >= groups->wide.rules.max &&
	    mu_shape_find(&groups->wide, number, WIDE_BLOCKS)) {
		groups->visits -= groups->wide.count;
		shape = &groups->wide;
	}
	start = mu_shape_start(shape);
	node = mu_lost_node(components->trees.lost, start);
	if (start == number || mu_component_of(components, node) != component)
		return;
	components->all[component].lowest = node;
	if (mu_shape_find(&groups->shape, start, max))
		groups->moved(
		    groups->ctx, mu_range_size(groups->shape.blocks[0].range));
}

/* Find the shape of the owner COMPONENT, in groups->shape. */
static bool
find_shape(struct mu_groups *groups, uint32_t component, size_t max)
{
	struct mu_components *components = groups->components;
	struct mu_component *one = &components->all[component];
	struct mu_block block;

	if (!mu_lost_block(components->trees.lost, one->lowest, &block) ||
	    !mu_shape_find(&groups->shape, block.number,
		leads_on(components, component) ? max : 1))
		return false;
	if (mu_shape_leads_back(&groups->shape))
		move_start(groups, component, block.number);
	return true;
}

static uint64_t
key_of(struct mu_groups *groups, struct member *member,
    const struct mu_stack_key *stack)
{
	const struct mu_tag_module *module;

	switch (groups->by) {
	case MU_BY_STACK:
		return stack->key != 0 ? stack->key
				       : mu_shape_key(&groups->shape);
	case MU_BY_TYPE:
		return mu_shape_sign(&groups->tags, member->tag,
		    member->tag != 0 ? 0 : member->owner.size);
	case MU_BY_MODULE:
		module = mu_tags_module(&groups->tags, member->module_address);
		return module == NULL ? 0 : module->name;
	default:
		return mu_shape_key(&groups->shape);
	}
}

/* Its owner and shape are known. */
static void
complete(struct mu_groups *groups, struct member *member)
{
	const struct mu_recorder *recorder =
	    lost_of(groups)->graph->blocks->recorder;
	struct mu_stack_key stack;

	stack = find_stack(groups, &member->owner, recorder);
	member->tag = groups->shape.blocks[0].tag;
	member->module_address =
	    stack.module_address != 0 ? stack.module_address : member->tag;
	member->key = key_of(groups, member, &stack);
}

/* Read the owner COMPONENT; false if it is none. */
static bool
read_member(struct mu_groups *groups, uint32_t component, size_t max,
    struct member *member)
{
	const struct mu_components *components = groups->components;

	if (!find_shape(groups, component, max) ||
	    !mu_owner_read(&member->owner, components, component,
		lost_of(groups)->graph->blocks->recorder))
		return false;
	complete(groups, member);
	return true;
}

static uint32_t *
find_slot(const struct mu_groups *groups, uint64_t key)
{
	size_t at = key ^ key >> 32;
	uint32_t *slot;

	for (;; at++) {
		slot = &groups->slots[at & (groups->num_slots - 1)];
		if (*slot == 0 || groups->all[*slot - 1].key == key)
			return slot;
	}
}

/* At least half of the slots are free. */
static bool
make_room(struct mu_groups *groups)
{
	size_t i,
	    num = groups->num_slots == 0 ? 2 * FIRST_GROUPS
					 : 2 * groups->num_slots;

	if (groups->count < groups->num_slots / 2)
		return true;
	groups->slots =
	    mu_arena_alloc_table(groups->arena, num, sizeof(*groups->slots));
	groups->num_slots = num;
	if (groups->slots == NULL ||
	    !mu_arena_extend(
		groups->arena, groups->all, groups->count, num / 2))
		return false;
	for (i = 0; i < groups->count; i++)
		*find_slot(groups, groups->all[i].key) = (uint32_t)(1 + i);
	return true;
}

/*
 * Add the owner whose first block is at PLACE to its group, which is returned;
 * NULL without memory.
 */
static struct mu_grouped *
add_member(
    struct mu_groups *groups, uint32_t place, const struct member *member)
{
	size_t size = member->owner.size;
	struct mu_grouped *group;
	uint32_t *slot;

	if (!make_room(groups))
		return NULL;
	slot = find_slot(groups, member->key);
	if (*slot == 0) {
		groups->all[groups->count] = (struct mu_grouped) {
			.key = member->key,
			.place = place,
			.size = size,
			.tag = member->tag,
			.module_address = member->module_address,
			.mixed = member->tag == 0 && groups->by >= MU_BY_TYPE,
		};
		*slot = (uint32_t)++groups->count;
	}
	group = &groups->all[*slot - 1];
	if (group->size != size)
		group->size = 0;
	if (group->tag != member->tag) {
		group->tag = 0;
		group->mixed = true;
	}
	if (place < group->place)
		group->place = place;
	group->count++;
	group->bytes += size;
	return group;
}

/* COUNT blocks of BYTES hang on a member of GROUP, itself included. */
static void
add_blocks(struct mu_grouped *group, size_t count, size_t bytes)
{
	if (group->num_blocks == 0)
		group->first_blocks = count;
	group->uneven |= count != group->first_blocks;
	group->num_blocks += count;
	group->total_bytes += bytes;
}

/* The blocks that are visited if MAX of each shape are, at most. */
static size_t
count_visits(const struct mu_groups *groups, size_t max)
{
	const struct mu_components *components = groups->components;
	const struct mu_component *one = components->all;
	const struct mu_component *end = one + components->num_components;
	size_t sum = 0;

	for (; one < end; one++)
		if (one->parent == MU_NO_PARENT)
			sum += one->complete && one->count < max ? one->count
								 : max;
	return sum;
}

/*
 * How many blocks of each shape may be visited. The limit keeps the sum near
 * the number of lost blocks, even if many owners lead to the same ones. It is
 * the same for all shapes, so that equal shapes have equal keys.
 */
static size_t
choose_max(const struct mu_groups *groups)
{
	size_t max;

	for (max = BLOCKS; max > 1; max /= 2)
		if (lost_of(groups)->num_alone + count_visits(groups, max) <=
		    groups->visits)
			break;
	return max;
}

/* Read the words of all blocks at once, if it is worth it. */
static void
keep_words(struct mu_groups *groups, size_t max)
{
	const struct mu_lost *lost = lost_of(groups);
	const struct mu_arena *arena = groups->arena;

	if (mu_read_buffer_helps(lost->graph->memory) &&
	    count_visits(groups, max) >= lost->num_nodes / KEEP_SHARE)
		mu_first_words_open(&groups->first, lost,
		    (arena->limit - arena->used) / KEEP_PART,
		    groups->components->deadline);
}

static bool
add_members(struct mu_groups *groups)
{
	const struct mu_components *components = groups->components;
	size_t max = choose_max(groups);
	struct mu_grouped *group;
	struct member member;
	uint32_t i;

	keep_words(groups, max);
	for (i = 0; i < components->num_components; i++) {
		if (components->all[i].parent != MU_NO_PARENT)
			continue;
		if (read_member(groups, i, max, &member)) {
			group = add_member(groups,
			    mu_lost_place(
				lost_of(groups), components->all[i].lowest),
			    &member);
			if (group == NULL)
				return false;
			groups->of[i] = 1 + (uint32_t)(group - groups->all);
		}
		if (components->deadline->passed)
			return false;
	}
	return true;
}

struct alone {
	struct mu_groups *groups;
	uint32_t *of; /* of the next block */
	bool complete;
};

static bool
add_one(void *ctx, const struct mu_block *block)
{
	struct alone *alone = ctx;
	struct mu_groups *groups = alone->groups;
	struct member member;
	struct mu_grouped *group;

	if (mu_owner_read_alone(
		&member.owner, groups->components, block->number) &&
	    mu_shape_find(&groups->shape, block->number, 1)) {
		complete(groups, &member);
		group = add_member(groups, block->number, &member);
		if (group == NULL)
			return false;
		add_blocks(group, 1, member.owner.bytes);
		*alone->of = 1 + (uint32_t)(group - groups->all);
	}
	alone->of++;
	alone->complete = !groups->components->deadline->passed;
	return alone->complete;
}

/* Add the blocks that are alone: no other member leads to them. */
static bool
add_alone(struct mu_groups *groups)
{
	struct alone alone = { groups,
		groups->of + groups->components->num_components, true };

	mu_lost_each_alone(lost_of(groups), add_one, &alone);
	return alone.complete;
}

/* Count each block for the first owner that leads to it. */
static bool
add_up(struct mu_groups *groups)
{
	struct mu_components *components = groups->components;
	struct mu_reported reported;
	uint32_t i;

	mu_reported_begin(components);
	for (i = 0; i < components->num_components; i++) {
		if (components->all[i].parent != MU_NO_PARENT ||
		    groups->of[i] == 0)
			continue;
		reported = (struct mu_reported) { .count = 0 };
		mu_reported_add(&reported, components, i);
		add_blocks(&groups->all[groups->of[i] - 1], reported.count,
		    reported.bytes);
	}
	mu_reported_begin(components);
	return !components->deadline->passed;
}

/* The group of the owner whose first block is at PLACE: 1 + its index, or 0. */
static uint32_t
group_at(const struct mu_groups *groups, uint32_t place)
{
	const struct mu_lost *lost = lost_of(groups);
	uint32_t node = mu_lost_at(lost, place);

	if (node != MU_NO_NODE)
		return groups->of[mu_component_of(groups->components, node)];
	return groups->of[groups->components->num_components +
	    mu_lost_alone_rank(lost, place)];
}

static size_t
bytes_at(const void *ctx, uint32_t place)
{
	const struct mu_groups *groups = ctx;

	return groups->all[group_at(groups, place) - 1].total_bytes;
}

static bool
choose(struct mu_groups *groups, size_t limit)
{
	struct mu_top_n *top = &groups->top;
	size_t i;

	if (!mu_top_n_open(top, limit < groups->count ? limit : groups->count,
		groups->arena))
		return false;
	top->bytes = bytes_at;
	top->ctx = groups;
	for (i = 0; i < groups->count; i++)
		mu_top_n_add(
		    top, groups->all[i].total_bytes, groups->all[i].place);
	mu_top_n_end(top);
	for (i = 0; i < top->count; i++)
		groups->all[group_at(groups, mu_top_n_place(top, i)) - 1].rank =
		    (uint32_t)(1 + i);
	return true;
}

static bool
open_groups(struct mu_groups *groups, const struct mu_snapshot *snap)
{
	const struct mu_lost *lost = lost_of(groups);
	struct mu_shape_rules rules = {
		.blocks = lost->graph->blocks,
		.memory = lost->graph->memory,
		.first = &groups->first,
		.tags = &groups->tags,
		.deadline = groups->components->deadline,
		.max = BLOCKS,
		.alike = ALIKE,
	};
	bool opened;

	groups->visits =
	    VISITS_EACH * ((size_t)lost->num_nodes + lost->num_alone) +
	    VISITS_LEAST;
	opened = mu_tags_open(&groups->tags, snap, groups->arena) &&
	    mu_shape_open(&groups->shape, &rules, groups->arena);
	rules.max = WIDE_BLOCKS;
	rules.alike = 0;
	opened = opened && mu_shape_open(&groups->wide, &rules, groups->arena);
	groups->of = mu_arena_alloc_table(groups->arena,
	    (size_t)groups->components->num_components + lost->num_alone,
	    sizeof(*groups->of));
	groups->kept =
	    mu_arena_alloc(groups->arena, KEPT, sizeof(*groups->kept));
	return opened && groups->of != NULL && groups->kept != NULL;
}

bool
mu_groups_find(
    struct mu_groups *groups, const struct mu_snapshot *snap, size_t limit)
{
	bool found;

	found = open_groups(groups, snap) && add_members(groups) &&
	    add_up(groups) && add_alone(groups) && choose(groups, limit) &&
	    mu_members_find(groups);
	mu_first_words_close(&groups->first);
	if (!found)
		groups->by = MU_BY_BLOCK;
	return found;
}

uint32_t
mu_groups_rank(const struct mu_groups *groups, const struct mu_owner *owner)
{
	uint32_t group = 0;

	if (groups->by != MU_BY_BLOCK)
		group = owner->component != MU_NO_COMPONENT
		    ? groups->of[owner->component]
		    : group_at(groups, owner->block.number);
	return group == 0 ? 0 : groups->all[group - 1].rank;
}

/* Fill the rows of what hangs on the block with NUMBER. */
static void
fill_holds(
    struct mu_groups *groups, uint32_t number, struct mu_lost_group *group)
{
	struct mu_shape *shape = &groups->shape;

	if (groups->visits >= groups->wide.rules.max)
		shape = &groups->wide;
	if (!mu_shape_find(shape, number, shape->rules.max))
		return;
	groups->visits -=
	    groups->visits < shape->count ? groups->visits : shape->count;
	mu_holds_fill(shape, group);
}

void
mu_groups_describe(struct mu_groups *groups, size_t index,
    struct mu_lost_group *group, uint32_t *place)
{
	const struct mu_components *components = groups->components;
	const struct mu_grouped *found;
	struct mu_block block;
	uint32_t node;

	*place = mu_top_n_place(&groups->top, index);
	found = &groups->all[group_at(groups, *place) - 1];
	*group = (struct mu_lost_group) {
		.key = found->key,
		.size = found->size,
		.tag = found->tag,
		.module_address = found->module_address,
		.mixed = found->mixed,
		.uneven = found->uneven,
		.count = found->count,
		.bytes = found->bytes,
		.num_blocks = found->num_blocks,
		.total_bytes = found->total_bytes,
	};
	mu_members_describe(groups, index, group);
	node = mu_lost_at(lost_of(groups), *place);
	if (node != MU_NO_NODE &&
	    leads_on(components, mu_component_of(components, node)) &&
	    mu_lost_block(components->trees.lost, node, &block))
		fill_holds(groups, block.number, group);
}

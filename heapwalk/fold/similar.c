/*
 * A group is found by its frames, which several stacks of a depot can share;
 * for most owners the stack's number is enough. If stacks are sampled, blocks
 * without a sample form one group without frames: as single entries they would
 * hide the others.
 */
#include "heapwalk/fold/similar.h"

#include <string.h>

#include "heapwalk/heaps/heap.h"

#define KEPT 4096u /* a power of 2 */
#define FIRST_SLOTS ((size_t)1024)

struct mu_similar_kept {
	uint32_t stack, group;
};

void
mu_owner_read_record(struct mu_owner *owner, const struct mu_recorder *recorder)
{
	struct mu_range block = owner->block.range;

	owner->known = (struct mu_recorded_block) { .range = block };
	/* If it is the allocator's block, all of it is the program's. */
	if (recorder != NULL &&
	    mu_recorder_find(recorder, block, &owner->known) &&
	    owner->known.range.begin == block.begin)
		owner->known.range = block;
	owner->size = mu_range_size(owner->known.range);
}

bool
mu_owner_read(struct mu_owner *owner, const struct mu_components *components,
    uint32_t component, const struct mu_recorder *recorder)
{
	const struct mu_component *one = &components->all[component];
	size_t count, bytes;

	if (!mu_lost_block(components->trees.lost, one->lowest, &owner->block))
		return false;
	mu_owner_read_record(owner, recorder);
	mu_components_reach(components, component, &count, &bytes);
	owner->component = component;
	owner->lowest = one->lowest;
	owner->referenced_count = count - 1;
	owner->referenced_size = bytes - mu_range_size(owner->block.range);
	owner->bytes = owner->size + owner->referenced_size;
	return true;
}

bool
mu_owner_read_alone(struct mu_owner *owner,
    const struct mu_components *components, uint32_t number)
{
	*owner = (struct mu_owner) { .component = MU_NO_COMPONENT };
	if (!mu_blocks_at(
		components->trees.lost->graph->blocks, number, &owner->block))
		return false;
	mu_owner_read_record(owner, NULL);
	owner->bytes = owner->size;
	return true;
}

static void
describe_stack(struct mu_leak *leak, const uintptr_t *frames, size_t num)
{
	size_t i;

	leak->num_frames = num < MU_LEAK_FRAMES ? num : MU_LEAK_FRAMES;
	for (i = 0; i < leak->num_frames; i++)
		leak->frames[i] = frames[i];
	leak->num_more = num - leak->num_frames;
	if (leak->num_more > 0)
		leak->more = frames + MU_LEAK_FRAMES;
}

size_t
mu_owner_stack(const struct mu_owner *owner, const struct mu_recorder *recorder,
    uintptr_t frames[MU_STACK_MAX_FRAMES])
{
	const struct mu_heap_member *heap = owner->block.heap;
	size_t num = 0;

	if (recorder != NULL)
		num = mu_recorder_stack(
		    recorder, owner->known.stack, frames, MU_STACK_MAX_FRAMES);
	if (num == 0 && heap != NULL && heap->ops->backtrace != NULL)
		num = heap->ops->backtrace(
		    heap, &owner->block, frames, MU_STACK_MAX_FRAMES);
	return num;
}

void
mu_owner_describe(struct mu_leak *leak, const struct mu_owner *owner,
    const struct mu_recorder *recorder, uintptr_t frames[MU_STACK_MAX_FRAMES])
{
	size_t num;

	*leak = (struct mu_leak) { .num_frames = 0 };
	leak->range = owner->known.range;
	leak->referenced_count = owner->referenced_count;
	leak->referenced_size = owner->referenced_size;
	leak->total_size = owner->bytes;
	num = mu_owner_stack(owner, recorder, frames);
	leak->cut = num > 0 && recorder != NULL &&
	    owner->known.stack >= MU_STACK_FIRST &&
	    num >= recorder->header.max_frames;
	describe_stack(leak, frames, num);
}

void
mu_similar_open(struct mu_similar *similar, const struct mu_recorder *recorder,
    struct mu_arena *arena)
{
	*similar = (struct mu_similar) { .recorder = recorder, .arena = arena };
}

static uint64_t
hash_frames(const uintptr_t *frames, size_t count)
{
	uint64_t hash = count;
	size_t i;

	for (i = 0; i < count; i++) {
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The slot of FRAMES, which has their group or is free. */
static uint32_t *
find_slot(
    const struct mu_similar *similar, const uintptr_t *frames, size_t count)
{
	uintptr_t others[MU_STACK_MAX_FRAMES];
	size_t at = hash_frames(frames, count), num;
	uint32_t *slot;

	for (;; at++) {
		slot = &similar->slots[at & (similar->num_slots - 1)];
		if (*slot == 0)
			return slot;
		num = mu_recorder_stack(similar->recorder,
		    similar->groups[*slot - 1].stack, others,
		    MU_STACK_MAX_FRAMES);
		if (num == count &&
		    memcmp(frames, others, count * sizeof(*frames)) == 0)
			return slot;
	}
}

/* At least half of the slots are free, so that searches are short. */
static bool
make_room(struct mu_similar *similar)
{
	size_t num =
	    similar->num_slots == 0 ? FIRST_SLOTS : 2 * similar->num_slots;
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	struct mu_group *groups;
	size_t count;
	uint32_t i;

	if (similar->count < similar->num_slots / 2)
		return true;
	groups = mu_arena_alloc(similar->arena, num / 2, sizeof(*groups));
	similar->slots =
	    mu_arena_alloc(similar->arena, num, sizeof(*similar->slots));
	if (groups == NULL || similar->slots == NULL)
		return false;
	if (similar->count > 0)
		memcpy(
		    groups, similar->groups, similar->count * sizeof(*groups));
	similar->groups = groups;
	similar->num_slots = num;
	for (i = 0; i < similar->count; i++) {
		count = mu_recorder_stack(similar->recorder, groups[i].stack,
		    frames, MU_STACK_MAX_FRAMES);
		*find_slot(similar, frames, count) = i + 1;
	}
	return true;
}

static void
join(struct mu_group *group, const struct mu_owner *owner)
{
	/* Nodes are in address order. */
	if (group->count == 0 || owner->lowest < group->lowest)
		group->lowest = owner->lowest;
	group->count++;
	group->size += owner->size;
	group->referenced_count += owner->referenced_count;
	group->referenced_size += owner->referenced_size;
	group->bytes += owner->bytes;
}

/*
 * Find the group of STACK, or make a new one; MU_NO_GROUP if it has no frames.
 */
static bool
find_group(struct mu_similar *similar, uint32_t stack, uint32_t *group)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	uint32_t *slot;
	size_t count;

	count = mu_recorder_stack(
	    similar->recorder, stack, frames, MU_STACK_MAX_FRAMES);
	*group = MU_NO_GROUP;
	if (count == 0 && !mu_recorder_unsampled(similar->recorder, stack))
		return true;
	if (!make_room(similar))
		return false;
	slot = find_slot(similar, frames, count);
	if (*slot == 0) {
		similar->groups[similar->count] =
		    (struct mu_group) { .stack = stack };
		*slot = ++similar->count;
	}
	*group = *slot - 1;
	return true;
}

bool
mu_similar_add(
    struct mu_similar *similar, const struct mu_owner *owner, uint32_t *group)
{
	uint32_t stack = owner->known.stack;
	struct mu_similar_kept *kept;

	*group = MU_NO_GROUP;
	if (mu_recorder_unsampled(similar->recorder, stack))
		stack = MU_STACK_OFF;
	else if (stack < MU_STACK_FIRST)
		return true;
	if (similar->kept == NULL)
		similar->kept = mu_arena_alloc(
		    similar->arena, KEPT, sizeof(*similar->kept));
	if (similar->kept == NULL)
		return false;
	kept = &similar->kept[(stack * 0x9e3779b1u >> 16) & (KEPT - 1)];
	*group = kept->group;
	if (kept->stack != stack) {
		if (!find_group(similar, stack, group))
			return false;
		if (*group == MU_NO_GROUP)
			return true;
		*kept = (struct mu_similar_kept) { stack, *group };
	}
	join(&similar->groups[*group], owner);
	return true;
}

void
mu_group_describe(struct mu_leak *leak, const struct mu_group *group)
{
	leak->similar_count = group->count - 1;
	leak->similar_size = group->size - mu_range_size(leak->range);
	leak->similar_referenced_count =
	    group->referenced_count - leak->referenced_count;
	leak->similar_referenced_size =
	    group->referenced_size - leak->referenced_size;
	leak->total_size = group->bytes;
}

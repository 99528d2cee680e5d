#include "heapwalk/recorded/recorded.h"

#include <string.h>

#include "heapwalk/heaps/spans.h"
#include "mu/bisect.h"

#define WORD sizeof(uint32_t)
#define GRAIN ((uintptr_t)1 << MU_SHADOW_WORD_SHIFT)
#define FIRST_IGNORED ((size_t)64)
#define DEPOT_BLOCK_SIZE ((size_t)MU_DEPOT_UNIT << MU_DEPOT_BLOCK_SHIFT)

/* The word for the 16 bytes at ADDRESS; *COUNT words follow in its span. */
static const char *
words_at(const struct mu_recorder *recorder, uintptr_t address, size_t *count)
{
	uint64_t index = (uint64_t)address >> MU_SHADOW_SPAN_SHIFT;
	size_t low = 0, at;

	mu_bisect(
	    low, recorder->num_spans, i, recorder->spans[i].index < index);
	at = (address >> MU_SHADOW_WORD_SHIFT) & (MU_SHADOW_WORDS - 1);
	*count = MU_SHADOW_WORDS - at;
	if (low == recorder->num_spans || recorder->spans[low].index != index)
		return NULL;
	return recorder->spans[low].view + at * WORD;
}

static uint32_t
word_at(const struct mu_recorder *recorder, uintptr_t address)
{
	size_t count;
	const char *view = words_at(recorder, address, &count);
	uint32_t word = 0;

	if (view != NULL)
		memcpy(&word, view, sizeof(word));
	return word;
}

/* The first word from *AT to END that begins a block; 0 if none. */
static uint32_t
next_start(const struct mu_recorder *recorder, uintptr_t *at, uintptr_t end)
{
	const char *view;
	uint32_t word;
	size_t count;

	while (*at < end) {
		view = words_at(recorder, *at, &count);
		for (; count > 0 && *at < end; count--, *at += GRAIN) {
			if (view == NULL)
				continue;
			memcpy(&word, view, sizeof(word));
			if (word & MU_SHADOW_START)
				return word;
			view += WORD;
		}
	}
	return 0;
}

/* The requested size; larger than the block if the words make no sense. */
static uint64_t
read_size(const struct mu_recorder *recorder, uintptr_t begin)
{
	uint32_t word = word_at(recorder, begin + GRAIN);

	if (word & MU_SHADOW_START)
		return UINT64_MAX;
	if (word != MU_SHADOW_LARGE)
		return word >> 1;
	return (uint64_t)(word_at(recorder, begin + 2 * GRAIN) >> 1) |
	    (uint64_t)(word_at(recorder, begin + 3 * GRAIN) >> 1) << 30;
}

static bool
find_item(const struct mu_recorder *recorder, struct mu_range block,
    struct mu_recorded_block *found)
{
	const struct mu_recorded_item *item;
	size_t low = 0;

	mu_bisect(low, recorder->num_items, i,
	    recorder->items[i].begin < block.begin);
	if (low == recorder->num_items ||
	    recorder->items[low].begin != block.begin)
		return false;
	item = &recorder->items[low];
	*found = (struct mu_recorded_block) {
		.range = { item->at, item->at + item->size },
		.stack = item->stack,
	};
	return true;
}

bool
mu_recorder_find(const struct mu_recorder *recorder, struct mu_range block,
    struct mu_recorded_block *found)
{
	size_t usable = mu_range_size(block), max_guard = 0;
	uintptr_t at = (block.begin + GRAIN - 1) & ~(GRAIN - 1);
	uint64_t size;
	uint32_t word;

	if (usable == 0)
		return false;
	if (recorder->items != NULL)
		return find_item(recorder, block, found);
	if (recorder->header.flags & MU_RECORDED_GUARDED)
		max_guard = recorder->header.max_guard;
	if (max_guard >= usable)
		max_guard = usable - 1;
	word = next_start(recorder, &at, block.begin + max_guard + 1);
	if (word == 0)
		return false;
	size = read_size(recorder, at);
	*found = (struct mu_recorded_block) {
		.range = { at, block.end },
		.stack = mu_shadow_stack(word),
		.freed = (word & MU_SHADOW_FREED) != 0,
		.ignored = mu_shadow_kind(word) == MU_BLOCK_IGNORED,
	};
	if (size < block.end - at)
		found->range.end = at + size;
	return true;
}

/* The entry of UNIT, and the number of its bytes; NULL if invalid. */
static const char *
entry_at(const void *ctx, uint32_t unit, size_t *room)
{
	const struct mu_recorder *recorder = ctx;
	uint32_t block = unit >> MU_DEPOT_BLOCK_SHIFT;
	size_t at =
	    (size_t)(unit & ((1u << MU_DEPOT_BLOCK_SHIFT) - 1)) * MU_DEPOT_UNIT;

	*room = DEPOT_BLOCK_SIZE - at;
	if (unit < MU_STACK_FIRST || block >= MU_DEPOT_BLOCKS ||
	    recorder->depot == NULL || recorder->depot[block] == NULL)
		return NULL;
	return recorder->depot[block] + at;
}

/* A slot refers to a stack that is not a slot. */
static const char *
stack_at(const struct mu_recorder *recorder, uint32_t unit,
    struct mu_stack *stack, size_t *room)
{
	const char *view = entry_at(recorder, unit, room);
	struct mu_stack_slot slot;

	if (view == NULL || *room < sizeof(*stack))
		return NULL;
	memcpy(stack, view, sizeof(*stack));
	if (stack->flags != MU_STACK_SLOT)
		return stack->flags & ~MU_STACK_CHILD ? NULL : view;
	if (*room < sizeof(slot))
		return NULL;
	memcpy(&slot, view, sizeof(slot));
	view = entry_at(recorder, slot.stack, room);
	if (view == NULL)
		return NULL;
	memcpy(stack, view, sizeof(*stack));
	return stack->flags & ~MU_STACK_CHILD ? NULL : view;
}

bool
mu_recorder_unsampled(const struct mu_recorder *recorder, uint32_t stack)
{
	return recorder != NULL && recorder->header.sample_bytes != 0 &&
	    (stack == MU_STACK_NONE || stack == MU_STACK_OFF ||
		stack == MU_STACK_OFF_CHILD);
}

static size_t
saved_stack(const struct mu_recorder *recorder, uint32_t stack,
    uintptr_t *frames, size_t max)
{
	const struct mu_recorded_stack *saved;
	size_t low = 0, count;

	mu_bisect(low, recorder->num_stacks, i, recorder->stacks[i].id < stack);
	if (low == recorder->num_stacks || recorder->stacks[low].id != stack)
		return 0;
	saved = &recorder->stacks[low];
	count = saved->num_frames < max ? saved->num_frames : max;
	memcpy(frames, saved->frames, count * sizeof(*frames));
	return count;
}

size_t
mu_recorder_stack(const struct mu_recorder *recorder, uint32_t stack,
    uintptr_t *frames, size_t max)
{
	struct mu_stack head;
	const char *view;
	size_t room, i;
	uint64_t frame;

	if (recorder->items != NULL)
		return saved_stack(recorder, stack, frames, max);
	view = stack_at(recorder, stack, &head, &room);
	if (view == NULL || head.num_frames > MU_STACK_MAX_FRAMES ||
	    head.num_frames * sizeof(frame) > room - sizeof(head))
		return 0;
	view += offsetof(struct mu_stack, frames);
	for (i = 0; i < max && i < head.num_frames; i++) {
		memcpy(&frame, view + i * sizeof(frame), sizeof(frame));
		frames[i] = (uintptr_t)mu_recorded_frame(
		    recorder->modules, recorder->num_modules, frame);
	}
	return i;
}

bool
mu_recorder_script(const struct mu_recorder *recorder, uintptr_t frame,
    struct mu_script *script)
{
	size_t low = 0;

	if (recorder->items == NULL)
		return mu_script_find(entry_at, recorder, frame, script);
	mu_bisect(
	    low, recorder->num_scripts, i, recorder->scripts[i].frame < frame);
	if (low == recorder->num_scripts ||
	    recorder->scripts[low].frame != frame)
		return false;
	*script = recorder->scripts[low].script;
	return true;
}

struct dropping {
	const struct mu_recorder *recorder;
	struct mu_deadline *deadline;
};

static bool
is_freed(void *ctx, const struct mu_block *block)
{
	const struct dropping *dropping = ctx;
	struct mu_recorded_block found;

	return !mu_deadline_passed(dropping->deadline, 8) &&
	    mu_recorder_find(dropping->recorder, block->range, &found) &&
	    found.freed;
}

size_t
mu_recorder_drop_freed(const struct mu_recorder *recorder,
    struct mu_blocks *blocks, struct mu_deadline *deadline)
{
	struct dropping dropping = { recorder, deadline };

	return mu_blocks_drop(blocks, is_freed, &dropping);
}

struct keeping {
	const struct mu_recorder *recorder;
	struct mu_deadline *deadline;
	struct mu_snapshot *snap;
	struct mu_arena *arena;
	size_t room;
	bool failed;
};

static bool
keep(void *ctx, const struct mu_block *block)
{
	struct keeping *keeping = ctx;
	struct mu_snapshot *snap = keeping->snap;
	struct mu_recorded_block found;

	if (mu_deadline_passed(keeping->deadline, 8))
		return false;
	if (!mu_recorder_find(keeping->recorder, block->range, &found) ||
	    !found.ignored)
		return true;
	if (!mu_arena_room(keeping->arena, snap->root_values,
		snap->num_root_values, keeping->room, FIRST_IGNORED)) {
		keeping->failed = true;
		return false;
	}
	snap->root_values[snap->num_root_values++] = block->range.begin;
	return true;
}

bool
mu_recorder_keep_ignored(const struct mu_recorder *recorder,
    const struct mu_blocks *blocks, struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct keeping keeping = { recorder, deadline, snap, arena,
		snap->num_root_values + FIRST_IGNORED, false };
	uintptr_t *values;

	if ((recorder->header.flags & MU_RECORDED_IGNORES) == 0)
		return true;
	/* The others are in another arena. */
	values = mu_arena_alloc(arena, keeping.room, sizeof(*values));
	if (values == NULL)
		return false;
	if (snap->num_root_values > 0)
		memcpy(values, snap->root_values,
		    snap->num_root_values * sizeof(*values));
	snap->root_values = values;
	mu_blocks_each(blocks, keep, &keeping);
	return !keeping.failed;
}

#include "lib/explain/holders.h"

#define NONE UINT32_MAX

struct grouping {
	struct mu_holder_list *list;
	struct mu_places *places;
	const struct mu_held *held;

	/* The holder of each thread's stack and registers, of its variables,
	 * and of each mapping; NONE: not made yet. */
	uint32_t *stacks, *variables, *mappings;
	uint32_t values, allocator, interpreter;
};

static bool
same_place(const struct mu_step *holder, const struct mu_step *step)
{
	return holder->kind == step->kind && holder->address != 0 &&
	    step->address == holder->address;
}

static uint32_t *
new_indices(struct mu_arena *arena, size_t count)
{
	uint32_t *indices = mu_arena_alloc(arena, count + 1, sizeof(*indices));
	size_t i;

	for (i = 0; indices != NULL && i < count; i++)
		indices[i] = NONE;
	return indices;
}

static bool
open_grouping(struct grouping *grouping)
{
	const struct mu_snapshot *snap = grouping->places->snap;
	struct mu_arena *arena = grouping->places->tables;

	grouping->stacks = new_indices(arena, snap->num_threads);
	grouping->variables = new_indices(arena, snap->num_threads);
	grouping->mappings = new_indices(arena, snap->num_mappings);
	grouping->values = grouping->allocator = grouping->interpreter = NONE;
	grouping->list->of = mu_arena_alloc(
	    arena, grouping->held->count + 1, sizeof(*grouping->list->of));
	return grouping->stacks != NULL && grouping->variables != NULL &&
	    grouping->mappings != NULL && grouping->list->of != NULL;
}

static size_t
thread_index(const struct mu_snapshot *snap, pid_t tid)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].tid == tid)
			return i;
	return SIZE_MAX;
}

static uint32_t *
mapping_slot(struct grouping *grouping, uintptr_t address)
{
	const struct mu_snapshot *snap = grouping->places->snap;
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);

	return mapping == NULL ? NULL
			       : &grouping->mappings[mapping - snap->mappings];
}

/*
 * Where the holder of a place is noted that has words in several stretches.
 * NULL: it has one stretch only.
 */
static uint32_t *
slot_of(struct grouping *grouping, const struct mu_step *step)
{
	size_t thread;

	switch (step->kind) {
	case MU_STEP_STACK:
	case MU_STEP_REGISTER:
	case MU_STEP_TLS:
		thread = thread_index(grouping->places->snap, step->thread);
		if (thread == SIZE_MAX)
			return NULL;
		return step->kind == MU_STEP_TLS ? &grouping->variables[thread]
						 : &grouping->stacks[thread];
	case MU_STEP_MAPPING:
		return mapping_slot(grouping, step->address);
	case MU_STEP_VALUE:
		return &grouping->values;
	case MU_STEP_ALLOCATOR:
		return &grouping->allocator;
	case MU_STEP_INTERPRETER:
		return &grouping->interpreter;
	default:
		return NULL;
	}
}

static bool
add_holder(struct grouping *grouping, const struct mu_step *step)
{
	struct mu_holder_list *list = grouping->list;
	struct mu_step *holder;

	if (list->count == NONE - 1 ||
	    !mu_arena_room(grouping->places->tables, list->holders, list->count,
		list->max, 64))
		return false;
	holder = &list->holders[list->count++];
	*holder = *step;
	holder->points = false;
	if (step->kind == MU_STEP_STACK || step->kind == MU_STEP_REGISTER) {
		holder->kind = MU_STEP_THREAD;
		holder->name = NULL;
	}
	return true;
}

/* A word of the same place as the one before it needs no search. */
static bool
continues(const struct grouping *grouping, const struct mu_held_word *word)
{
	const struct mu_held_word *before = word - 1;
	const struct mu_step *holder;

	if (word == grouping->held->words || before->kind != word->kind)
		return false;
	if (word->kind == MU_HELD_REGISTER)
		return before->thread == word->thread;
	holder =
	    &grouping->list
		 ->holders[grouping->list->of[before - grouping->held->words]];
	return holder->address != 0 && word->address >= holder->address &&
	    word->address - holder->address < holder->size;
}

static bool
group_word(struct grouping *grouping, size_t i)
{
	struct mu_holder_list *list = grouping->list;
	const struct mu_held_word *word = &grouping->held->words[i];
	struct mu_step step;
	uint32_t *slot;

	if (continues(grouping, word)) {
		list->of[i] = list->of[i - 1];
		return true;
	}
	mu_place_of_word(grouping->places, word, &step);
	slot = slot_of(grouping, &step);
	if (slot != NULL && *slot != NONE) {
		list->of[i] = *slot;
		return true;
	}
	if (i > 0 && same_place(&list->holders[list->of[i - 1]], &step)) {
		list->of[i] = list->of[i - 1];
		return true;
	}
	if (!add_holder(grouping, &step))
		return false;
	list->of[i] = (uint32_t)(list->count - 1);
	if (slot != NULL)
		*slot = list->of[i];
	return true;
}

/* True unless a word of HOLDER may be old, or no pointer. */
static bool
is_certain(const struct mu_step *holder)
{
	return holder->kind == MU_STEP_VARIABLE ||
	    holder->kind == MU_STEP_TLS || holder->kind == MU_STEP_REGION ||
	    holder->kind == MU_STEP_VALUE;
}

/* The doubtful ones come last. */
static bool
sort_holders(struct grouping *grouping)
{
	struct mu_holder_list *list = grouping->list;
	struct mu_arena *arena = grouping->places->tables;
	struct mu_step *sorted;
	uint32_t *places, certain = 0, doubtful;
	size_t i;

	sorted = mu_arena_alloc(arena, list->count + 1, sizeof(*sorted));
	places = mu_arena_alloc(arena, list->count + 1, sizeof(*places));
	if (sorted == NULL || places == NULL)
		return false;
	for (i = 0; i < list->count; i++)
		certain += is_certain(&list->holders[i]);
	doubtful = list->targets.certain = certain;
	certain = 0;
	for (i = 0; i < list->count; i++) {
		places[i] =
		    is_certain(&list->holders[i]) ? certain++ : doubtful++;
		sorted[places[i]] = list->holders[i];
	}
	for (i = 0; i < grouping->held->count; i++)
		list->of[i] = places[list->of[i]];
	list->holders = sorted;
	list->max = list->count;
	return true;
}

/* Count the words of each holder, and put their blocks side by side. */
static bool
list_targets(struct grouping *grouping)
{
	struct mu_holder_list *list = grouping->list;
	const struct mu_held *held = grouping->held;
	struct mu_arena *arena = grouping->places->tables;
	uint32_t *first, *targets;
	size_t i;

	first = mu_arena_alloc(arena, list->count + 2, sizeof(*first));
	targets = mu_arena_alloc(arena, held->count + 1, sizeof(*targets));
	if (first == NULL || targets == NULL)
		return false;
	for (i = 0; i < held->count; i++)
		first[list->of[i] + 1]++;
	for (i = 0; i < list->count; i++)
		first[i + 1] += first[i];
	for (i = held->count; i-- > 0;)
		targets[--first[list->of[i] + 1]] = held->words[i].node;
	first[list->count + 1] = (uint32_t)held->count;
	list->targets.first = first + 1;
	list->targets.targets = targets;
	list->targets.count = (uint32_t)list->count;
	return true;
}

bool
mu_holders_group(struct mu_holder_list *list, struct mu_places *places,
    const struct mu_held *held)
{
	struct grouping grouping = {
		.list = list, .places = places, .held = held
	};
	size_t i;

	*list = (struct mu_holder_list) { .holders = NULL };
	if (!open_grouping(&grouping))
		return false;
	for (i = 0; i < held->count; i++)
		if (!group_word(&grouping, i))
			return false;
	return sort_holders(&grouping) && list_targets(&grouping);
}

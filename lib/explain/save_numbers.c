#include "lib/explain/save_numbers.h"

#include <stddef.h>
#include <string.h>

#include "heapwalk/explain/keyed.h"
#include "lib/explain/python_edges.h"
#include "lib/types/python_keys.h"

#define WORD sizeof(uintptr_t)
#define HEAD (MU_PYTHON_BEFORE / WORD + 2)
#define CLASSES_MAX ((size_t)1 << 20)

struct numbers {
	const struct mu_explaining *explaining;
	struct mu_arena *arena;
	uintptr_t *list;
	size_t count, max;
	struct mu_keyed classes; /* addresses: those that are noted */
	bool no_memory;
};

static void
add(struct numbers *numbers, uintptr_t address)
{
	if (mu_arena_room(numbers->arena, numbers->list, numbers->count,
		numbers->max, 1024))
		numbers->list[numbers->count++] = address;
	else
		numbers->no_memory = true;
}

/* What tells that there is a class; its pointers are kept in any case. */
static void
add_class(struct numbers *numbers, uintptr_t class)
{
	bool added;

	if (mu_keyed_add(&numbers->classes, class, &added) == NULL || !added)
		return;
	add(numbers, class + offsetof(struct mu_python_class, refcnt));
	add(numbers, class + offsetof(struct mu_python_class, basicsize));
	add(numbers, class + offsetof(struct mu_python_class, itemsize));
	add(numbers, class + offsetof(struct mu_python_class, flags));
}

/* What a tuple and a text are known by besides; AT is that of the object. */
static void
add_lengths(struct numbers *numbers, const char *name, uintptr_t at)
{
	const bool text = strcmp(name, "str") == 0;

	if (text || strcmp(name, "tuple") == 0)
		add(numbers, at + MU_PYTHON_LENGTH * WORD);
	if (text)
		add(numbers, at + MU_PYTHON_TEXT_STATE * WORD);
}

static void
add_python(struct numbers *numbers, const struct mu_block *block)
{
	size_t i, size = mu_range_size(block->range);
	const uintptr_t begin = block->range.begin;
	uintptr_t words[HEAD] = { 0 };
	struct mu_python_keys keys;

	memcpy(words, block->view, size < sizeof(words) ? size : sizeof(words));
	for (i = 0; i < HEAD; i += 2) {
		if (!mu_python_class_find(
			numbers->explaining->snap, words, i * WORD))
			continue;
		if (i * WORD == MU_PYTHON_BEFORE &&
		    mu_python_is_old_head(words))
			add(numbers, begin + 2 * WORD);
		add_class(numbers, words[i + 1]);
		if (words[i] != 0)
			add(numbers, begin + i * WORD);
	}
	if (mu_python_keys_read(block->view, size, &keys))
		for (i = 0; i < MU_PYTHON_KEYS_HEAD / WORD; i++)
			add(numbers, begin + i * WORD);
}

static bool
add_block(void *ctx, const struct mu_block *block)
{
	struct numbers *numbers = ctx;
	const struct mu_live_types *types = &numbers->explaining->types;
	const struct mu_live_type *type;
	uintptr_t object;
	unsigned more;
	size_t at;

	if (!mu_block_marked(block))
		return true;
	type = mu_live_type_of(types, block->number);
	object = block->range.begin + type->offset;
	if (type->certain && mu_type_counter_place(type->counter, &at, &more)) {
		add(numbers, object + at);
		if (type->counter == MU_COUNTER_PYTHON)
			add_lengths(numbers, type->name, object);
	}
	if (types->python)
		add_python(numbers, block);
	return !numbers->no_memory;
}

bool
mu_save_numbers_find(struct mu_explaining *explaining,
    const uintptr_t **addresses, size_t *count)
{
	struct numbers numbers = { .explaining = explaining,
		.arena = explaining->tables,
		.classes = { .arena = explaining->tables,
		    .size = sizeof(uint64_t),
		    .first = (size_t)1 << 10,
		    .most = CLASSES_MAX } };

	if (explaining->types.of != NULL)
		mu_blocks_each(explaining->graph->blocks, add_block, &numbers);
	*addresses = numbers.list;
	*count = numbers.count;
	return !numbers.no_memory;
}

#include "lib/glue/lsan/objects.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "memunreachable/malloc_debug.h"
#include "mu/recorded.h"

#define ROUNDS 8 /* as many as LeakSanitizer makes */

/* Of the recorder, if it is there. */
#pragma weak malloc_backtrace
extern const struct mu_recorded memunreachable_recorded __attribute__((weak));

/* With guards the program's block begins elsewhere, and is not found. */
static size_t
requested(uintptr_t begin, size_t usable)
{
	const struct mu_recorded *recorded = &memunreachable_recorded;
	size_t at = begin >> MU_SHADOW_WORD_SHIFT & (MU_SHADOW_WORDS - 1);
	const uint32_t *words;

	if (recorded == NULL || !mu_recorded_is(recorded) ||
	    recorded->directory == 0 || begin >> 48 != 0)
		return usable;
	words =
	    (const uint32_t *)((const uintptr_t *)recorded
				   ->directory)[begin >> MU_SHADOW_SPAN_SHIFT];
	if (words == NULL || (words[at] & MU_SHADOW_START) == 0 ||
	    at + 4 > MU_SHADOW_WORDS)
		return usable;
	words += at + 1;
	return words[0] != MU_SHADOW_LARGE
	    ? words[0] / 2
	    : words[1] / 2 | (size_t)(words[2] / 2) << 30;
}

static size_t
read_frames(uintptr_t begin, uintptr_t *frames)
{
	ssize_t count = malloc_backtrace == NULL
	    ? 0
	    : malloc_backtrace(
		  (void *)begin, frames, MEMUNREACHABLE_MAX_FRAMES);

	return count > 0 ? (size_t)count : 0;
}

void
lsan_stack_read(struct lsan_stack *stack, uintptr_t begin)
{
	Dl_info about;
	size_t i;

	*stack = (struct lsan_stack) { .count = 0 };
	stack->count = read_frames(begin, stack->pcs);
	for (i = 0; i < stack->count; i++) {
		stack->offsets[i] = stack->pcs[i];
		if (dladdr((void *)stack->pcs[i], &about) == 0)
			continue;
		stack->functions[i] = about.dli_sname;
		stack->modules[i] = about.dli_fname;
		stack->offsets[i] -= (uintptr_t)about.dli_fbase;
	}
}

/* FNV-1a of its frames. */
static uint64_t
stack_of(const struct lsan_object *object)
{
	uintptr_t frames[MEMUNREACHABLE_MAX_FRAMES];
	size_t i, count = read_frames(object->begin, frames);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (count == 0)
		return object->size;
	for (i = 0; i < count; i++)
		hash = (hash ^ frames[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static void
add(void *ctx, uintptr_t begin, size_t size)
{
	struct lsan_objects *objects = ctx;
	struct lsan_object *object = &objects->items[objects->count];

	if (objects->count == objects->max)
		return;
	*object = (struct lsan_object) { .begin = begin,
		.size = requested(begin, size) };
	object->stack = stack_of(object);
	objects->count++;
}

/* Returns true if there were some, so that less is lost now. */
static bool
ignore_suppressed(
    struct lsan_objects *objects, struct lsan_suppressed *suppressed)
{
	size_t before = objects->num_ignored, i;
	struct lsan_object *object;
	struct lsan_stack stack;

	for (i = before; i < objects->count; i++) {
		object = &objects->items[i];
		lsan_stack_read(&stack, object->begin);
		if (!lsan_suppressed_has(suppressed, stack.functions,
			stack.modules, stack.count, object->size, 1))
			continue;
		memunreachable_ignore_object((void *)object->begin);
		objects->items[objects->num_ignored++] = *object;
	}
	return objects->num_ignored > before;
}

static int
by_begin(const void *left, const void *right)
{
	const uintptr_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static bool
mark_direct(struct lsan_objects *objects, struct lsan_object *items,
    const struct UnreachableMemoryInfo *info)
{
	size_t i, count = info->num_reported;
	uintptr_t *heads =
	    memunreachable_unsearched_alloc((count + 1) * sizeof(*heads));

	if (heads == NULL)
		return false;
	for (i = 0; i < count; i++)
		heads[i] = info->leaks[i].begin;
	qsort(heads, count, sizeof(*heads), by_begin);
	for (i = 0; i < objects->count - objects->num_ignored; i++)
		items[i].direct = bsearch(&items[i].begin, heads, count,
				      sizeof(*heads), by_begin) != NULL;
	memunreachable_unsearched_free(heads);
	return true;
}

/* By stack, the direct ones of each first. */
static int
by_stack(const void *left, const void *right)
{
	const struct lsan_object *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->direct != b->direct)
		return a->direct ? -1 : 1;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static int
by_bytes(const void *left, const void *right)
{
	const struct lsan_group *a = left, *b = right;

	if (a->objects->direct != b->objects->direct)
		return a->objects->direct ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->objects > b->objects) - (a->objects < b->objects);
}

/*
 * An entry of INFO stands for all of its stack; without stacks each direct
 * block has one.
 */
static bool
group(struct lsan_objects *objects, const struct UnreachableMemoryInfo *info)
{
	struct lsan_object *items = objects->items + objects->num_ignored;
	size_t i, count = objects->count - objects->num_ignored;
	struct lsan_group *last = NULL;

	objects->groups = memunreachable_unsearched_alloc(
	    (count + 1) * sizeof(*objects->groups));
	if (objects->groups == NULL || !mark_direct(objects, items, info))
		return false;
	qsort(items, count, sizeof(*items), by_stack);
	for (i = 0; i < count; i++) {
		if (last == NULL || items[i].stack != last->objects->stack ||
		    (items[i].direct != last->objects->direct &&
			items[i].stack == items[i].size)) {
			last = &objects->groups[objects->num_groups++];
			last->objects = &items[i];
		}
		last->count++;
		last->bytes += items[i].size;
	}
	qsort(objects->groups, objects->num_groups, sizeof(*objects->groups),
	    by_bytes);
	return true;
}

bool
lsan_objects_list(struct lsan_objects *objects,
    struct UnreachableMemoryInfo *info, struct lsan_suppressed *suppressed)
{
	unsigned round = 0;

	*objects = (struct lsan_objects) { .max = info->num_leaks + 1024 };
	objects->items = memunreachable_unsearched_alloc(
	    objects->max * sizeof(*objects->items));
	if (objects->items == NULL)
		return false;
	for (;; round++) {
		objects->count = objects->num_ignored;
		if (!memunreachable_each_unreachable(add, objects))
			return false;
		if (round == ROUNDS || !ignore_suppressed(objects, suppressed))
			break;
	}
	if (round > 0 && !GetUnreachableMemory(info, LSAN_MANY))
		return false;
	return group(objects, info);
}

void
lsan_objects_free(struct lsan_objects *objects)
{
	size_t i;

	for (i = 0; i < objects->num_ignored; i++)
		memunreachable_unignore_object((void *)objects->items[i].begin);
	memunreachable_unsearched_free(objects->items);
	memunreachable_unsearched_free(objects->groups);
}

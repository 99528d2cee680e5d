#include "lib/malloc_debug/dumps/leak_blocks.h"

#include <string.h>

#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sort.h"

#define FIRST_ROOM 1024

struct taking {
	struct leak_blocks *out;
	size_t room;
	bool (*wanted)(const struct recorded_block *);
};

static bool
make_room(struct taking *taking)
{
	struct leak_blocks *out = taking->out;

	if (mu_arena_room(
		&out->arena, out->blocks, out->count, taking->room, FIRST_ROOM))
		return true;
	out->short_of_memory = true;
	return false;
}

static bool
take(void *ctx, const struct recorded_block *block)
{
	struct taking *taking = ctx;
	struct leak_blocks *out = taking->out;
	const struct mu_stack *trace;

	if (block->freed || (taking->wanted != NULL && !taking->wanted(block)))
		return true;
	if (!make_room(taking))
		return false;
	trace = stack_depot_get(block->stack);
	if (trace != NULL && trace->num_frames == 0)
		trace = NULL;
	out->blocks[out->count++] = (struct leak_block) {
		.begin = block->begin,
		.size = block->size,
		.count = 1,
		.stack = block->stack,
		.trace = trace,
		.child = recorder_stack_child(block->stack),
	};
	return true;
}

static int
compare(uintptr_t a, uintptr_t b)
{
	return a < b ? -1 : a > b;
}

static size_t
frames(const struct leak_block *block)
{
	return block->trace == NULL ? 0 : block->trace->num_frames;
}

static int
by_list(const void *a, const void *b)
{
	const struct leak_block *x = a, *y = b;

	if (x->child != y->child)
		return x->child ? 1 : -1;
	if (x->size != y->size)
		return -compare(x->size, y->size);
	if (frames(x) != frames(y))
		return -compare(frames(x), frames(y));
	return compare(x->begin, y->begin);
}

static int
by_record(const void *a, const void *b)
{
	const struct leak_block *x = a, *y = b;

	if (x->child != y->child)
		return x->child ? 1 : -1;
	if (x->size != y->size)
		return compare(x->size, y->size);
	if (x->trace != y->trace)
		return compare((uintptr_t)x->trace, (uintptr_t)y->trace);
	return compare(x->begin, y->begin);
}

void
leak_blocks_take(
    struct leak_blocks *out, bool (*wanted)(const struct recorded_block *))
{
	struct taking taking = { .out = out, .wanted = wanted };

	*out = (struct leak_blocks) { 0 };
	mu_arena_open(&out->arena, SIZE_MAX);
	recorder_each(take, &taking);
	mu_sort(out->blocks, out->count, sizeof(*out->blocks), by_list);
}

void
leak_blocks_close(struct leak_blocks *blocks)
{
	mu_arena_close(&blocks->arena);
	*blocks = (struct leak_blocks) { 0 };
}

static bool
same_record(const struct leak_block *a, const struct leak_block *b)
{
	return a->child == b->child && a->size == b->size &&
	    a->trace == b->trace;
}

/* First make equal blocks neighbours: A, B, A, B. */
void
leak_blocks_merge(struct leak_blocks *blocks)
{
	struct leak_block *list = blocks->blocks;
	size_t i, kept = 0;

	mu_sort(list, blocks->count, sizeof(*list), by_record);
	for (i = 0; i < blocks->count; i++) {
		if (kept > 0 && same_record(&list[kept - 1], &list[i]))
			list[kept - 1].count += list[i].count;
		else
			list[kept++] = list[i];
	}
	blocks->count = kept;
	mu_sort(list, kept, sizeof(*list), by_list);
}

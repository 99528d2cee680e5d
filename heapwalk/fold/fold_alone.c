#include "heapwalk/fold/fold_alone.h"

#include "heapwalk/fold/contents.h"
#include "heapwalk/fold/similar.h"
#include "heapwalk/fold/top_n.h"

#define BYTES_EACH 64 /* an entry without a stack */

struct alone {
	const struct mu_recorder *recorder;
	struct mu_top_n top;
	struct mu_leaks *leaks;
};

static void
know(struct mu_owner *owner, const struct mu_block *block,
    const struct mu_recorder *recorder)
{
	*owner = (struct mu_owner) { .block = *block };
	mu_owner_read_record(owner, recorder);
	owner->bytes = owner->size;
}

/* The order of the numbers is that of addresses. */
static bool
take(void *ctx, const struct mu_block *block)
{
	struct alone *alone = ctx;
	struct mu_owner owner;

	mu_leaks_add_unrecorded(alone->leaks, mu_range_size(block->range));
	know(&owner, block, alone->recorder);
	mu_top_n_add(&alone->top, owner.bytes, block->number);
	return true;
}

static size_t
bytes_at(const void *ctx, uint32_t number)
{
	const struct mu_graph *graph = ctx;
	struct mu_block block;
	struct mu_owner owner;

	if (!mu_blocks_at(graph->blocks, number, &block))
		return 0;
	know(&owner, &block, graph->blocks->recorder);
	return owner.bytes;
}

/* Returns false if memory is exhausted. */
static bool
add_entry(struct mu_leaks *leaks, uint32_t number, const struct mu_graph *graph,
    bool contents)
{
	const struct mu_blocks *blocks = graph->blocks;
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	struct mu_block block;
	struct mu_owner owner;
	struct mu_leak leak;

	if (!mu_blocks_at(blocks, number, &block))
		return true;
	know(&owner, &block, blocks->recorder);
	mu_owner_describe(&leak, &owner, blocks->recorder, frames);
	if (contents)
		mu_contents_copy(graph->memory, leak.range.begin,
		    mu_owner_view(&owner), owner.size, leak.contents);
	if (!mu_packed_add(&leaks->entries, &leak))
		return false;
	leaks->unreported_bytes -= mu_range_size(block.range);
	leaks->unreported_count--;
	return true;
}

/* Room for MAX blocks and their entries, or half as many, or ... */
static bool
make_room(struct mu_top_n *top, size_t max, struct mu_arena *arena)
{
	size_t each = sizeof(*top->keys);

	for (*top = (struct mu_top_n) { .max = max }; top->max > 0;
	     top->max /= 2) {
		top->keys = mu_arena_alloc(arena, top->max, each + BYTES_EACH);
		if (top->keys != NULL)
			break;
	}
	if (top->max > 0)
		mu_arena_trim(arena, top->keys, top->max, each);
	return top->max > 0;
}

void
mu_fold_alone(struct mu_leaks *leaks, const struct mu_graph *graph,
    size_t limit, bool contents)
{
	struct alone alone = { .recorder = graph->blocks->recorder,
		.leaks = leaks };
	struct mu_top_n *top = &alone.top;
	size_t i;

	if (!make_room(top, limit < leaks->num_leaks ? limit : leaks->num_leaks,
		graph->arena))
		return;
	top->bytes = bytes_at;
	top->ctx = graph;
	mu_blocks_each_unmarked(graph->blocks, take, &alone);
	mu_top_n_end(top);
	leaks->num_total = leaks->num_leaks;
	for (i = 0; i < top->count; i++)
		if (!add_entry(leaks, mu_top_n_place(top, i), graph, contents))
			return;
}

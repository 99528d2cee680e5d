#include "heapwalk/fold/fold_alone.h"

#include "heapwalk/fold/contents.h"
#include "heapwalk/fold/similar.h"
#include "mu/sort.h"

#define BYTES_EACH 64 /* of an entry without a stack */

/* A block, and its size as the program has it. */
struct alone {
	struct mu_range range;
	size_t size;
};

/* The largest blocks so far, the smallest of them first: a heap. */
struct largest {
	struct alone *blocks;
	size_t count, max;
	struct mu_leaks *leaks;
};

static bool
comes_first(struct mu_range a, struct mu_range b)
{
	if (mu_range_size(a) != mu_range_size(b))
		return mu_range_size(a) > mu_range_size(b);
	return a.begin < b.begin;
}

static void
sift_down(struct largest *largest, size_t at)
{
	struct alone *blocks = largest->blocks;
	struct mu_range range = blocks[at].range;
	size_t child;

	for (; (child = 2 * at + 1) < largest->count; at = child) {
		if (child + 1 < largest->count &&
		    comes_first(blocks[child].range, blocks[child + 1].range))
			child++;
		if (!comes_first(range, blocks[child].range))
			break;
		blocks[at].range = blocks[child].range;
	}
	blocks[at].range = range;
}

static bool
take(void *ctx, const struct mu_block *block)
{
	struct largest *largest = ctx;
	size_t i;

	mu_leaks_add_unrecorded(largest->leaks, mu_range_size(block->range));
	if (largest->count < largest->max) {
		largest->blocks[largest->count++].range = block->range;
		if (largest->count == largest->max)
			for (i = largest->max / 2; i-- > 0;)
				sift_down(largest, i);
	} else if (comes_first(block->range, largest->blocks[0].range)) {
		largest->blocks[0].range = block->range;
		sift_down(largest, 0);
	}
	return true;
}

static bool
read_owner(struct mu_owner *owner, const struct alone *alone,
    const struct mu_blocks *blocks)
{
	*owner = (struct mu_owner) { .component = 0 };
	if (!mu_blocks_find(blocks, alone->range.begin, &owner->block))
		return false;
	mu_owner_know(owner, blocks->recorder);
	owner->bytes = owner->size;
	return true;
}

static int
by_size(const void *a, const void *b)
{
	const struct alone *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return (left->range.begin > right->range.begin) -
	    (left->range.begin < right->range.begin);
}

static void
sort(struct largest *largest, const struct mu_blocks *blocks)
{
	struct mu_owner owner;
	size_t i;

	for (i = 0; i < largest->count; i++)
		if (read_owner(&owner, &largest->blocks[i], blocks))
			largest->blocks[i].size = owner.size;
	mu_sort(
	    largest->blocks, largest->count, sizeof(*largest->blocks), by_size);
}

/* False: no memory. */
static bool
add_entry(struct mu_leaks *leaks, const struct alone *alone,
    const struct mu_graph *graph, bool contents)
{
	const struct mu_blocks *blocks = graph->blocks;
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	struct mu_owner owner;
	struct mu_leak leak;

	if (!read_owner(&owner, alone, blocks))
		return true;
	mu_owner_describe(&leak, &owner, blocks->recorder, frames);
	if (contents)
		mu_contents_copy(graph->memory, leak.range.begin,
		    mu_owner_view(&owner), owner.size, leak.contents);
	if (!mu_packed_add(&leaks->entries, &leak))
		return false;
	leaks->unreported_bytes -= mu_range_size(alone->range);
	leaks->unreported_count--;
	return true;
}

void
mu_fold_alone(struct mu_leaks *leaks, const struct mu_graph *graph,
    size_t limit, bool contents)
{
	const struct mu_blocks *blocks = graph->blocks;
	struct mu_arena *arena = graph->arena;
	struct largest largest = { .max = limit, .leaks = leaks };
	size_t i, each = sizeof(*largest.blocks);

	if (largest.max > leaks->num_leaks)
		largest.max = leaks->num_leaks;
	for (; largest.max > 0; largest.max /= 2) {
		largest.blocks =
		    mu_arena_alloc(arena, largest.max, each + BYTES_EACH);
		if (largest.blocks != NULL)
			break;
	}
	if (largest.max == 0)
		return;
	mu_arena_trim(arena, largest.blocks, largest.max, each);
	mu_blocks_each_unmarked(blocks, take, &largest);
	sort(&largest, blocks);
	leaks->num_total = leaks->num_leaks;
	for (i = 0; i < largest.count; i++)
		if (!add_entry(leaks, &largest.blocks[i], graph, contents))
			return;
}

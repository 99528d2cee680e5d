/*
 * The heaps of arenas other than the main one: see
 *heapwalk/heaps/glibc/stretch.h.
 *
 *	heap_info | malloc_state | chunks ... top	(its first heap)
 *	heap_info | chunks ... fencepost | size 0	(a heap it left)
 */
#include "heapwalk/heaps/glibc/stretch.h"

/* heap_info: ar_ptr, prev, size */
#define HEAP_PREV 8
#define HEAP_SIZE 16

struct chains {
	struct mu_glibc_chain *items;
	size_t count, max;
};

struct heaps {
	struct chains *chains;
	size_t index;
	uintptr_t arena, top;
	size_t system_mem, sum;
};

static enum mu_status
broken(const struct mu_glibc_walk *walk, const struct heaps *heaps,
    uintptr_t heap, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "arena %p, heap %p: %s", (void *)heaps->arena, (void *)heap, rule);
}

static bool
add_chain(struct mu_glibc_walk *walk, struct chains *chains,
    const struct mu_glibc_chain *chain)
{
	if (!mu_arena_room(
		walk->memory, chains->items, chains->count, chains->max, 64))
		return false;
	chains->items[chains->count++] = *chain;
	return true;
}

/* List one heap; PREV is the heap that the arena left for it. */
static enum mu_status
list_heap(struct mu_glibc_walk *walk, struct heaps *heaps, uintptr_t heap,
    uintptr_t *prev)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	const char *view =
	    mu_snapshot_view(walk->snap, heap, layout->heap_header);
	uintptr_t first = heap + layout->heap_header;
	struct mu_glibc_chain chain = { .arena = heaps->index };
	size_t size;

	if (view == NULL || mu_glibc_word(view, 0) != heaps->arena)
		return broken(
		    walk, heaps, heap, "does not name the arena as its own");
	*prev = mu_glibc_word(view, HEAP_PREV);
	size = mu_glibc_word(view, HEAP_SIZE);
	if (heaps->arena == first)
		first = (first + layout->arena_size + 15) & ~(uintptr_t)15;
	if (size % walk->snap->memory.page_size != 0 ||
	    size > walk->glibc.heap_max ||
	    size < first - heap + MU_GLIBC_MINSIZE)
		return broken(walk, heaps, heap, "impossible size");
	heaps->sum += size;
	if (heaps->sum > heaps->system_mem)
		return broken(walk, heaps, heap,
		    "more memory than the arena's system_mem");
	mu_snapshot_unlock(walk->snap, (struct mu_range) { heap, heap + size });
	view = mu_snapshot_view(walk->snap, heap, size);
	if (view == NULL)
		return broken(walk, heaps, heap, "cannot be read");

	chain.limit = (struct mu_range) { first, heap + size };
	chain.view = view + (first - heap);
	if (mu_range_has(chain.limit, heaps->top))
		chain.top = heaps->top;
	if (!mu_ranges_add(
		&walk->stretches, (struct mu_range) { heap, heap + size }) ||
	    !add_chain(walk, heaps->chains, &chain))
		return mu_glibc_no_memory(walk);
	return MU_OK;
}

/*
 * List the heaps of arena INDEX. Those before an invalid one are listed, too.
 */
static enum mu_status
list_heaps(struct mu_glibc_walk *walk, size_t index, struct chains *chains)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	uintptr_t arena = walk->glibc.arenas[index];
	uintptr_t mask = walk->glibc.heap_max - 1, heap, prev;
	struct heaps heaps = {
		.chains = chains,
		.index = index,
		.arena = arena,
		.top = mu_glibc_arena_word(walk, arena, layout->arena_top),
		.system_mem =
		    mu_glibc_arena_word(walk, arena, layout->arena_system_mem),
	};
	enum mu_status status;

	if (heaps.top % 16 != 0)
		return broken(
		    walk, &heaps, heaps.top & ~mask, "top is not aligned");
	prev = heaps.top & ~mask;
	/* Terminates: every heap adds to the sum, which is limited. */
	do {
		heap = prev;
		if ((heap & mask) != 0)
			return broken(walk, &heaps, heap, "is not aligned");
		status = list_heap(walk, &heaps, heap, &prev);
		if (status != MU_OK)
			return status;
	} while (prev != 0);
	if (heap != (arena & ~mask))
		return broken(walk, &heaps, heap,
		    "is the first one, but the arena is elsewhere");
	if (heaps.sum != heaps.system_mem)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: its heaps are %zu bytes, system_mem is %zu",
		    (void *)arena, heaps.sum, heaps.system_mem);
	return MU_OK;
}

/* An error in a listed heap precedes an error of the list. */
enum mu_status
mu_glibc_heaps_take(struct mu_glibc_walk *walk)
{
	struct chains chains = { 0 };
	enum mu_status listed = MU_OK, status;
	struct mu_why why;
	size_t i;

	for (i = 1; listed == MU_OK && i < walk->glibc.num_arenas; i++)
		listed = list_heaps(walk, i, &chains);
	why = *walk->why;
	status = mu_glibc_chains_walk(walk, chains.items, chains.count);
	if (status == MU_OK)
		*walk->why = why;
	return status == MU_OK ? listed : status;
}

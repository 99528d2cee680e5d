#include "heapwalk/heaps/user/user.h"

#include <string.h>

#include "heapwalk/subject/variables.h"
#include "mu/registered.h"

struct state {
	const struct mu_program_heap
	    *heaps; /* NULL if only their number is known */
	size_t count;
	size_t disabled; /* the first so many are disabled */
};

/* State of the callbacks. */
struct listing {
	struct mu_heap *heap;
	const struct mu_heap_member *member;
	const struct mu_snapshot *snap;
	size_t unreadable; /* number of blocks */
	size_t unmapped;   /* ranges of the current heap's memory */
	bool no_memory;
};

static bool
is_registered(const char *view)
{
	struct mu_registered registered;

	memcpy(&registered, view, sizeof(registered));
	return mu_registered_is(&registered);
}

size_t
mu_program_heaps_count(const struct mu_snapshot *snap)
{
	static const struct mu_variable variable = {
		.library = "libmemunreachable.so",
		.magic = MU_REGISTERED_MAGIC,
		.size = sizeof(struct mu_registered),
		.is = is_registered,
	};
	struct mu_registered registered;
	uintptr_t at = mu_variable_find(snap, &variable);
	const void *view;

	view = at == 0 ? NULL : mu_snapshot_view(snap, at, sizeof(registered));
	if (view == NULL)
		return 0;
	memcpy(&registered, view, sizeof(registered));
	return registered.num_heaps;
}

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct state *state;

	if (snap->num_program_heaps == 0)
		return MU_OK;
	state = mu_arena_alloc(arena, 1, sizeof(*state));
	if (state == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of heaps");
	state->heaps = snap->program_heaps;
	state->count = snap->num_program_heaps;
	member->state = state;
	return MU_OK;
}

static enum mu_status
freeze(struct mu_heap_member *member, const struct mu_heap_freeze *freeze,
    struct mu_why *why)
{
	struct state *state = member->state;

	(void)freeze;
	(void)why;
	for (; state->disabled < state->count; state->disabled++)
		if (state->heaps[state->disabled].disable != NULL)
			state->heaps[state->disabled].disable();
	return MU_OK;
}

static void
thaw(struct mu_heap_member *member)
{
	struct state *state = member->state;

	while (state->disabled > 0) {
		state->disabled--;
		if (state->heaps[state->disabled].enable != NULL)
			state->heaps[state->disabled].enable();
	}
}

/* A block that another heap has, too, is not accepted: see mu_blocks_add(). */
static void
add_block(uintptr_t base, size_t size, void *arg)
{
	struct listing *listing = arg;
	struct mu_blocks *blocks = &listing->heap->blocks;
	struct mu_range range = { base, base + size };
	const char *view;

	view = mu_snapshot_view(listing->snap, base, size == 0 ? 1 : size);
	if (range.end < base || view == NULL) {
		listing->unreadable++;
		return;
	}
	if (mu_blocks_add(blocks, range, view, false) != MU_OK ||
	    !mu_ranges_add(&listing->heap->owned, range)) {
		listing->no_memory = true;
		return;
	}
	blocks->listed[blocks->num_listed - 1].heap = listing->member;
}

/* Any protection will do: a pool may have memory in reserve. */
static bool
is_mapped(const struct mu_snapshot *snap, struct mu_range range)
{
	const struct mu_mapping *mapping;

	if (range.end < range.begin)
		return false;
	for (; range.begin < range.end; range.begin = mapping->range.end) {
		mapping = mu_snapshot_mapping(snap, range.begin);
		if (mapping == NULL)
			return false;
	}
	return true;
}

/*
 * A wrong range, if accepted, would hide roots, and everything they refer to
 * would be reported as leaked.
 */
static void
add_memory(uintptr_t base, size_t size, void *arg)
{
	struct listing *listing = arg;
	struct mu_range range = { base, base + size };

	if (!is_mapped(listing->snap, range))
		listing->unmapped++;
	else if (!mu_ranges_add(&listing->heap->owned, range))
		listing->no_memory = true;
}

static enum mu_status
list_one(struct listing *listing, const struct mu_program_heap *one,
    struct mu_why *why)
{
	size_t before = listing->heap->blocks.bytes, rejected;
	struct mu_blocks *blocks = &listing->heap->blocks;
	enum mu_status status;
	int error;

	listing->unmapped = 0;
	error = one->iterate(0, SIZE_MAX, add_block, listing);
	if (error == 0 && one->memory != NULL)
		error = one->memory(add_memory, listing);
	if (listing->no_memory)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of blocks");
	mu_ranges_seal(&listing->heap->owned);
	status = mu_blocks_seal(blocks, &rejected);
	if (status != MU_OK)
		return mu_why(why, status, "heap stretches overlap");
	listing->heap->usage.live_reachable += blocks->bytes - before;
	if (error != 0)
		return mu_why(why, MU_PARTIAL,
		    "heap %s: its functions cannot list it (%d)", one->name,
		    error);
	if (listing->unmapped > 0)
		return mu_why(why, MU_PARTIAL,
		    "heap %s: %zu ranges that it calls its memory are not"
		    " mapped",
		    one->name, listing->unmapped);
	if (rejected > 0)
		return mu_why(why, MU_PARTIAL,
		    "heap %s: %zu of its blocks overlap others or lie in"
		    " another heap's memory: they were not checked",
		    one->name, rejected);
	return MU_OK;
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct listing listing = {
		.heap = heap, .member = member, .snap = snap
	};
	const struct state *state = member->state;
	enum mu_status status = MU_OK, next;
	struct mu_why why_next = { .text = "" };
	size_t i;

	(void)arena;
	if (state->heaps == NULL)
		return mu_why(why, MU_PARTIAL,
		    "heaps that the program registered, which only it can list,"
		    " were not checked: %zu" MU_CURE
		    "let the program ask for the check",
		    state->count);
	for (i = 0; i < state->count; i++) {
		next = list_one(&listing, &state->heaps[i], &why_next);
		if (!mu_status_join(&status, why, next, &why_next))
			return status;
	}
	if (status == MU_OK && listing.unreadable > 0)
		return mu_why(why, MU_PARTIAL,
		    "%zu blocks of heaps that the program registered cannot be"
		    " read",
		    listing.unreadable);
	return status;
}

static size_t
backtrace(const struct mu_heap_member *member, const struct mu_block *block,
    uintptr_t *frames, size_t max)
{
	const struct state *state = member->state;
	ptrdiff_t count = 0;
	size_t i;

	/* Ask the heaps in turn until one knows the block. */
	for (i = 0; count <= 0 && i < state->count; i++)
		if (state->heaps[i].backtrace != NULL)
			count = state->heaps[i].backtrace(
			    (void *)block->range.begin, frames, max);
	if (count <= 0)
		return 0;
	return (size_t)count < max ? (size_t)count : max;
}

const struct mu_heap_ops mu_heap_user = {
	.name = "user",
	.detect = detect,
	.freeze = freeze,
	.thaw = thaw,
	.list = list,
	.backtrace = backtrace,
};

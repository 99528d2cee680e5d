/*
 * Unreachable blocks become entries.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/fold.h"

#include <string.h>

#include "heapwalk/components.h"
#include "heapwalk/fold_alone.h"

/*
 * What folding takes at most for each unreachable block, its edges not counted:
 * its cells, its begin and size, a number and a word of the search, its
 * component; and some for the seams between them.
 */
#define BYTES_EACH                                      \
	(2 * sizeof(uintptr_t) + 4 * sizeof(uint32_t) + \
	    sizeof(struct mu_component) + 4)

#define SPARE ((size_t)1 << 20) /* whole pages, and pieces of the arena */

/* An owner, and what decides where it is reported. */
struct chosen {
	size_t bytes;
	uint32_t lowest, owner;
};

/* The owners that will be reported, the least important first: a heap. */
struct choice {
	struct chosen *owners;
	size_t count, max;
};

/* Is A reported before B? */
static bool
comes_first(const struct chosen *a, const struct chosen *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes
				    : a->lowest < b->lowest;
}

static void
sift_down(struct choice *choice, size_t at)
{
	struct chosen *owners = choice->owners, owner = owners[at];
	size_t child;

	for (; (child = 2 * at + 1) < choice->count; at = child) {
		if (child + 1 < choice->count &&
		    comes_first(&owners[child], &owners[child + 1]))
			child++;
		if (!comes_first(&owner, &owners[child]))
			break;
		owners[at] = owners[child];
	}
	owners[at] = owner;
}

static void
choose(struct choice *choice, const struct chosen *owner)
{
	size_t i;

	if (choice->count < choice->max) {
		choice->owners[choice->count++] = *owner;
		if (choice->count == choice->max)
			for (i = choice->max / 2; i-- > 0;)
				sift_down(choice, i);
	} else if (comes_first(owner, &choice->owners[0])) {
		choice->owners[0] = *owner;
		sift_down(choice, 0);
	}
}

/*
 * The first one reported comes first. Here, where they are small: entries are
 * 232 bytes each.
 */
static void
put_in_order(struct choice *choice)
{
	size_t count = choice->count;
	struct chosen least;

	while (choice->count > 1) {
		least = choice->owners[0];
		choice->count--;
		choice->owners[0] = choice->owners[choice->count];
		sift_down(choice, 0);
		choice->owners[choice->count] = least;
	}
	choice->count = count;
}

static bool
choose_owners(struct choice *choice, const struct mu_components *components,
    size_t limit, struct mu_arena *arena)
{
	const struct mu_component *component;
	struct chosen owner;
	size_t num_owners = 0;
	uint32_t i;

	for (i = 0; i < components->num_components; i++)
		num_owners += components->all[i].parent == MU_NO_PARENT;
	*choice =
	    (struct choice) { .max = limit < num_owners ? limit : num_owners };
	choice->owners =
	    mu_arena_alloc(arena, choice->max, sizeof(*choice->owners));
	if (choice->owners == NULL)
		return false;
	for (i = 0; i < components->num_components; i++) {
		component = &components->all[i];
		if (component->parent != MU_NO_PARENT)
			continue;
		owner =
		    (struct chosen) { component->bytes, component->lowest, i };
		choose(choice, &owner);
	}
	put_in_order(choice);
	return true;
}

static void
describe(struct mu_leak *leak, const struct mu_components *components,
    uint32_t owner)
{
	const struct mu_component *component = &components->all[owner];
	struct mu_block block;
	size_t size;

	if (!mu_graph_block(components->graph, component->lowest, &block))
		return;
	size = mu_range_size(block.range);
	leak->range = block.range;
	leak->referenced_count = component->count - 1;
	leak->referenced_size = component->bytes - size;
	leak->total_size = component->bytes;
	memcpy(leak->contents, block.view,
	    size < MU_LEAK_CONTENTS ? size : MU_LEAK_CONTENTS);
}

static enum mu_status
list_entries(struct mu_leaks *leaks, const struct mu_components *components,
    size_t limit, struct mu_arena *arena)
{
	struct choice choice;
	size_t i;

	if (!choose_owners(&choice, components, limit, arena))
		return MU_ERR_NO_MEMORY;
	leaks->entries =
	    mu_arena_alloc(arena, choice.count, sizeof(*leaks->entries));
	if (leaks->entries == NULL)
		return MU_ERR_NO_MEMORY;
	for (i = 0; i < choice.count; i++)
		describe(
		    &leaks->entries[i], components, choice.owners[i].owner);
	leaks->num_entries = choice.count;
	return MU_OK;
}

/* Whoever raises the limit shall not have to do so again and again. */
static void
note_wanted(
    struct mu_arena *arena, const struct mu_blocks *blocks, size_t num_leaks)
{
	size_t wanted = arena->used + num_leaks * BYTES_EACH, i;

	for (i = 0; i < blocks->num_spans; i++)
		wanted += blocks->spans[i].num_words * sizeof(uint32_t);
	if (arena->refused != 0 && arena->refused < wanted)
		arena->refused = wanted;
}

static enum mu_status
lack_of_time(const struct mu_leaks *leaks, struct mu_why *why)
{
	return mu_why(why, MU_PARTIAL,
	    "%zu unreachable blocks were found, but there was not enough time"
	    " to tell which belong together",
	    leaks->num_leaks);
}

static enum mu_status
lack_of_memory(const struct mu_leaks *leaks, struct mu_why *why)
{
	return mu_why(why, MU_PARTIAL,
	    "%zu unreachable blocks were found, but there was not enough memory"
	    " to tell which belong together: each entry is one block",
	    leaks->num_leaks);
}

/* How much of the arena's limit may go into edges: what nothing else takes. */
static size_t
room_for_edges(
    const struct mu_arena *arena, const struct mu_graph *graph, size_t limit)
{
	size_t entries = limit < graph->num_nodes ? limit : graph->num_nodes;
	size_t others = graph->num_nodes * BYTES_EACH +
	    entries * (sizeof(struct mu_leak) + sizeof(struct chosen)) + SPARE;
	size_t left =
	    arena->limit > arena->used ? arena->limit - arena->used : 0;

	return left > others ? left - others : 0;
}

/* Number the unreachable blocks, add them up, and find their edges. */
static enum mu_status
make_graph(struct mu_graph *graph, const struct mu_blocks *blocks, size_t limit,
    struct mu_memory *memory, struct mu_arena *arena,
    struct mu_deadline *deadline)
{
	if (mu_graph_open(graph, blocks, arena) &&
	    mu_graph_fill(graph, room_for_edges(arena, graph, limit), memory,
		arena, deadline))
		return MU_OK;
	return deadline->passed ? MU_ERR_TIMEOUT : MU_ERR_NO_MEMORY;
}

static enum mu_status
make_entries(struct mu_leaks *leaks, const struct mu_graph *graph, size_t limit,
    struct mu_arena *arena, struct mu_deadline *deadline, bool *complete)
{
	struct mu_components components;
	enum mu_status status;

	status = mu_components_find(&components, graph, arena, deadline);
	if (status != MU_OK)
		return status;
	*complete = mu_components_charge(&components);
	return list_entries(leaks, &components, limit, arena);
}

enum mu_status
mu_fold(struct mu_leaks *leaks, const struct mu_blocks *blocks, size_t limit,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns,
    struct mu_why *why)
{
	struct mu_deadline deadline = { .ns = deadline_ns };
	struct mu_arena_piece *before = arena->pieces;
	enum mu_status status = MU_ERR_NO_MEMORY;
	struct mu_graph graph;
	bool complete = true;

	*leaks = (struct mu_leaks) { 0 };
	if (limit > 0)
		status =
		    make_graph(&graph, blocks, limit, memory, arena, &deadline);
	if (status == MU_OK) {
		leaks->num_leaks = graph.num_nodes;
		leaks->leak_bytes = graph.bytes;
	} else {
		mu_graph_count(blocks, &leaks->num_leaks, &leaks->leak_bytes);
	}
	if (leaks->num_leaks == 0 || limit == 0)
		return MU_OK;
	if (status == MU_OK)
		status = make_entries(
		    leaks, &graph, limit, arena, &deadline, &complete);
	if (status == MU_ERR_TIMEOUT)
		return lack_of_time(leaks, why);
	if (status != MU_OK) {
		mu_arena_rewind(arena, before);
		note_wanted(arena, blocks, leaks->num_leaks);
		mu_fold_alone(leaks, blocks, limit, arena);
		return lack_of_memory(leaks, why);
	}
	if (!complete)
		return mu_why(why, MU_PARTIAL,
		    "the time ran out before all that the leaks refer to was "
		    "added up: some of these figures are too low");
	return MU_OK;
}

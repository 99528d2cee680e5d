/*
 * Unreachable blocks become entries.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/fold.h"

#include "heapwalk/choice.h"
#include "heapwalk/components.h"
#include "heapwalk/fold_alone.h"
#include "heapwalk/reported.h"
#include "heapwalk/similar.h"

/*
 * What folding takes at most for each unreachable block, its edges not counted:
 * its cells, its begin and size, a number and a word of the search, its
 * component; and some for the seams between them.
 */
#define BYTES_EACH                                      \
	(2 * sizeof(uintptr_t) + 4 * sizeof(uint32_t) + \
	    sizeof(struct mu_component) + 4)

#define SPARE ((size_t)1 << 20) /* whole pages, and pieces of the arena */

#define WORDS_EACH 64 /* of work: an owner's stack is looked for */

/* What the entries are made from. */
struct owners {
	struct mu_components *components;
	const struct mu_recorder *recorder;
	struct mu_similar similar; /* if there is a recorder */
	struct mu_choice choice;
	struct mu_deadline *deadline;
	struct mu_leaks *leaks;
};

void
mu_leaks_add_unrecorded(struct mu_leaks *leaks, size_t size)
{
	if (leaks->unrecorded_most == 0 || size < leaks->unrecorded_least)
		leaks->unrecorded_least = size;
	if (size > leaks->unrecorded_most)
		leaks->unrecorded_most = size;
}

/* One that has a stack waits until its whole group is known. */
static bool
choose_owner(struct owners *owners, uint32_t component)
{
	struct mu_component *one = &owners->components->all[component];
	struct mu_chosen chosen = { one->bytes, one->lowest, component };
	size_t size = mu_graph_size(owners->components->graph, one->lowest);
	uint32_t group = MU_NO_GROUP;
	struct mu_owner owner;

	if (owners->recorder != NULL) {
		if (!mu_owner_read(&owner, owners->components, component,
			owners->recorder))
			return true;
		if (!mu_similar_add(&owners->similar, &owner, &group))
			return false;
		chosen.bytes = owner.bytes;
		size = owner.size;
	}
	one->visitor = group == MU_NO_GROUP ? 0 : MU_GROUP | group;
	if (group != MU_NO_GROUP)
		return true;
	mu_leaks_add_unrecorded(owners->leaks, size);
	owners->leaks->num_total++;
	mu_choice_add(&owners->choice, &chosen);
	return true;
}

static void
choose_groups(struct owners *owners)
{
	const struct mu_group *group;
	struct mu_chosen chosen;
	uint32_t i;

	for (i = 0; i < owners->similar.count; i++) {
		group = &owners->similar.groups[i];
		chosen = (struct mu_chosen) { group->bytes, group->lowest,
			MU_GROUP | i };
		mu_choice_add(&owners->choice, &chosen);
	}
	owners->leaks->num_total += owners->similar.count;
}

static enum mu_status
choose_owners(struct owners *owners, size_t limit, struct mu_arena *arena)
{
	const struct mu_components *components = owners->components;
	struct mu_choice *choice = &owners->choice;
	size_t num_owners = 0;
	uint32_t i;

	for (i = 0; i < components->num_components; i++)
		num_owners += components->all[i].parent == MU_NO_PARENT;
	if (!mu_choice_open(
		choice, limit < num_owners ? limit : num_owners, arena))
		return MU_ERR_NO_MEMORY;
	mu_similar_open(&owners->similar, owners->recorder, arena);
	for (i = 0; i < components->num_components; i++) {
		if (components->all[i].parent != MU_NO_PARENT)
			continue;
		if (owners->recorder != NULL &&
		    mu_deadline_passed(owners->deadline, WORDS_EACH))
			return MU_ERR_TIMEOUT;
		if (!choose_owner(owners, i))
			return MU_ERR_NO_MEMORY;
	}
	choose_groups(owners);
	mu_choice_end(choice);
	return MU_OK;
}

static void
describe(struct mu_leak *leak, const struct owners *owners, uint32_t number,
    struct mu_arena *arena)
{
	const struct mu_group *group = NULL;
	struct mu_owner owner;

	if (number & MU_GROUP) {
		group = &owners->similar.groups[number & ~MU_GROUP];
		number = group->component;
	}
	if (!mu_owner_read(
		&owner, owners->components, number, owners->recorder))
		return;
	mu_owner_describe(leak, &owner, owners->recorder, arena);
	if (group != NULL)
		mu_group_describe(leak, group);
}

static enum mu_status
list_entries(struct mu_leaks *leaks, struct owners *owners, size_t limit,
    struct mu_arena *arena)
{
	const struct mu_choice *choice = &owners->choice;
	enum mu_status status = choose_owners(owners, limit, arena);
	size_t i;

	if (status != MU_OK)
		return status;
	leaks->entries =
	    mu_arena_alloc(arena, choice->count, sizeof(*leaks->entries));
	if (leaks->entries == NULL)
		return MU_ERR_NO_MEMORY;
	for (i = 0; i < choice->count; i++)
		describe(
		    &leaks->entries[i], owners, choice->owners[i].owner, arena);
	leaks->num_entries = choice->count;
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
	    " to tell which belong together; the option timeout gives more",
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
	    entries * (sizeof(struct mu_leak) + sizeof(struct mu_chosen)) +
	    SPARE + mu_similar_bytes(graph->blocks->recorder, graph->num_nodes);
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

/* What no entry has, if the limit cut any. */
static void
subtract_reported(struct mu_leaks *leaks, struct owners *owners)
{
	const struct mu_choice *choice = &owners->choice;
	struct mu_reported reported = { 0, 0 };

	if (leaks->num_total == leaks->num_entries) {
		leaks->unreported_count = leaks->unreported_bytes = 0;
		return;
	}
	mu_reported_count(&reported, owners->components, owners->similar.groups,
	    choice->owners, choice->count);
	leaks->unreported_count -= reported.count;
	leaks->unreported_bytes -= reported.bytes;
}

static enum mu_status
make_entries(struct mu_leaks *leaks, const struct mu_graph *graph, size_t limit,
    struct mu_arena *arena, struct mu_deadline *deadline, bool *complete)
{
	struct mu_components components;
	struct owners owners = {
		.components = &components,
		.recorder = graph->blocks->recorder,
		.deadline = deadline,
		.leaks = leaks,
	};
	enum mu_status status;

	status = mu_components_find(&components, graph, arena, deadline);
	if (status != MU_OK)
		return status;
	*complete = mu_components_charge(&components);
	status = list_entries(leaks, &owners, limit, arena);
	if (status == MU_OK)
		subtract_reported(leaks, &owners);
	*complete = *complete && !deadline->passed;
	return status;
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
	if (blocks->recorder != NULL)
		leaks->sample_bytes = blocks->recorder->about.sample_bytes;
	if (limit > 0)
		status =
		    make_graph(&graph, blocks, limit, memory, arena, &deadline);
	if (status == MU_OK) {
		leaks->num_leaks = graph.num_nodes;
		leaks->leak_bytes = graph.bytes;
	} else {
		mu_graph_count(blocks, &leaks->num_leaks, &leaks->leak_bytes);
	}
	leaks->unreported_count = leaks->num_leaks;
	leaks->unreported_bytes = leaks->leak_bytes;
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

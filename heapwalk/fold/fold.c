/* Make entries of unreachable blocks. */
#include "heapwalk/fold/fold.h"

#include <string.h>

#include "heapwalk/fold/components.h"
#include "heapwalk/fold/contents.h"
#include "heapwalk/fold/fold_alone.h"
#include "heapwalk/fold/groups.h"
#include "heapwalk/fold/reported.h"
#include "heapwalk/fold/similar.h"
#include "heapwalk/fold/top_n.h"

/*
 * Most memory that folding takes for each unreachable block, and for each edge
 * of those that have several.
 */
#define BYTES_EACH (16 * sizeof(uint32_t) + sizeof(struct mu_component))
#define BYTES_EDGE sizeof(uint32_t)

#define WORDS_EACH 64 /* work charged for finding an owner's stack */

#define FEW_ENTRIES ((size_t)16) /* if only groups are wanted */
#define MANY_ENTRIES 64          /* entries whose contents are read together */

/* The sources of entries. */
struct owners {
	struct mu_components *components;
	const struct mu_recorder *recorder;
	struct mu_similar similar; /* used with a recorder */
	struct mu_top_n top;
	struct mu_deadline *deadline;
	struct mu_leaks *leaks;
	struct mu_groups groups;
};

void
mu_leaks_add_unrecorded(struct mu_leaks *leaks, size_t size)
{
	if (leaks->unrecorded_most == 0 || size < leaks->unrecorded_least)
		leaks->unrecorded_least = size;
	if (size > leaks->unrecorded_most)
		leaks->unrecorded_most = size;
}

static const struct mu_lost *
lost_of(const struct owners *owners)
{
	return owners->components->trees.lost;
}

/* Add the owner whose first block is NODE. */
static void
add_to_top(struct owners *owners, size_t bytes, uint32_t node)
{
	struct mu_top_n *top = &owners->top;

	if (bytes >= mu_top_n_least(top))
		mu_top_n_add(top, bytes, mu_lost_place(lost_of(owners), node));
}

/* An owner with a stack waits until its whole group is known. */
static bool
choose_owner(struct owners *owners, uint32_t component)
{
	struct mu_component *one = &owners->components->all[component];
	uint32_t group = MU_NO_GROUP;
	struct mu_owner owner;
	size_t count, bytes;

	if (owners->recorder == NULL) {
		mu_components_reach(
		    owners->components, component, &count, &bytes);
	} else {
		if (!mu_owner_read(&owner, owners->components, component,
			owners->recorder))
			return true;
		if (!mu_similar_add(&owners->similar, &owner, &group))
			return false;
		bytes = owner.bytes;
		if (group == MU_NO_GROUP)
			mu_leaks_add_unrecorded(owners->leaks, owner.size);
	}
	one->visitor = group == MU_NO_GROUP ? 0 : MU_GROUP | group;
	if (group != MU_NO_GROUP)
		return true;
	owners->leaks->num_total++;
	add_to_top(owners, bytes, one->lowest);
	return true;
}

static bool
choose_alone(void *ctx, const struct mu_block *block)
{
	struct owners *owners = ctx;

	owners->leaks->num_total++;
	mu_top_n_add(&owners->top, mu_range_size(block->range), block->number);
	return true;
}

static void
choose_groups(struct owners *owners)
{
	const struct mu_group *group = owners->similar.groups;
	const struct mu_group *end = group + owners->similar.count;

	for (; group < end; group++)
		add_to_top(owners, group->bytes, group->lowest);
	owners->leaks->num_total += owners->similar.count;
}

/*
 * The component whose first block is at PLACE, MU_NO_COMPONENT if that is
 * alone. *GROUP are the owners with the same stack, if these are one entry;
 * otherwise NULL.
 */
static uint32_t
find_owner(const struct owners *owners, uint32_t place, struct mu_group **group)
{
	const struct mu_components *components = owners->components;
	uint32_t node = mu_lost_at(lost_of(owners), place), component, visitor;

	*group = NULL;
	if (node == MU_NO_NODE)
		return MU_NO_COMPONENT;
	component = mu_component_of(components, node);
	visitor = components->all[component].visitor;
	if (owners->recorder != NULL && (visitor & MU_GROUP) != 0)
		*group = &owners->similar.groups[visitor & ~MU_GROUP];
	return component;
}

/* Read the owner whose first block is at PLACE; GROUP is as above. */
static bool
read_owner(const struct owners *owners, uint32_t place, struct mu_owner *owner,
    struct mu_group **group)
{
	uint32_t component = find_owner(owners, place, group);

	if (component == MU_NO_COMPONENT)
		return mu_owner_read_alone(owner, owners->components, place);
	return mu_owner_read(
	    owner, owners->components, component, owners->recorder);
}

static size_t
bytes_at(const void *ctx, uint32_t place)
{
	struct mu_group *group;
	struct mu_owner owner;

	if (!read_owner(ctx, place, &owner, &group))
		return 0;
	return group != NULL ? group->bytes : owner.bytes;
}

static enum mu_status
choose_owners(struct owners *owners, size_t limit, struct mu_arena *arena)
{
	const struct mu_components *components = owners->components;
	struct mu_top_n *top = &owners->top;
	size_t num_owners = components->num_owners + lost_of(owners)->num_alone;
	uint32_t i;

	if (!mu_top_n_open(top, limit < num_owners ? limit : num_owners, arena))
		return MU_ERR_NO_MEMORY;
	top->bytes = bytes_at;
	top->ctx = owners;
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
	mu_lost_each_alone(lost_of(owners), choose_alone, owners);
	choose_groups(owners);
	mu_top_n_end(top);
	return MU_OK;
}

/*
 * Describe OWNER as LEAK. BYTES are its first bytes; NULL: read them, if they
 * are wanted.
 */
static void
describe_owner(struct mu_leak *leak, const struct owners *owners,
    const struct mu_owner *owner, const struct mu_fold_wanted *wanted,
    const unsigned char *bytes, uintptr_t frames[MU_STACK_MAX_FRAMES])
{
	mu_owner_describe(leak, owner, owners->recorder, frames);
	if (bytes != NULL)
		memcpy(leak->contents, bytes, MU_LEAK_CONTENTS);
	else if (wanted->contents)
		mu_contents_copy(lost_of(owners)->graph->memory,
		    leak->range.begin, mu_owner_view(owner), owner->size,
		    leak->contents);
	leak->group = mu_groups_rank(&owners->groups, owner);
}

/* BYTES are as above. */
static bool
add_entry(struct mu_leaks *leaks, const struct owners *owners, uint32_t place,
    const struct mu_fold_wanted *wanted, const unsigned char *bytes)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	struct mu_group *group;
	struct mu_owner owner;
	struct mu_leak leak;

	if (!read_owner(owners, place, &owner, &group))
		return true;
	describe_owner(&leak, owners, &owner, wanted, bytes, frames);
	if (group != NULL)
		mu_group_describe(&leak, group);
	return mu_packed_add(&leaks->entries, &leak);
}

/* Read the contents of entries from FIRST on, as many as there is room for. */
static void
read_contents(
    struct mu_contents *contents, const struct owners *owners, size_t first)
{
	const struct mu_top_n *top = &owners->top;
	struct mu_group *group;
	struct mu_owner owner = { .size = 0 };
	size_t i;

	mu_contents_clear(contents);
	for (i = first; i < top->count && contents->count < contents->max;
	     i++) {
		if (!read_owner(owners, mu_top_n_place(top, i), &owner, &group))
			owner.size = 0;
		mu_contents_add(contents, owner.known.range.begin, owner.size);
	}
	mu_contents_read(contents);
}

/* Returns false if memory is exhausted. */
static bool
add_entries(struct mu_leaks *leaks, const struct owners *owners,
    const struct mu_fold_wanted *wanted, struct mu_contents *contents)
{
	const struct mu_top_n *top = &owners->top;
	const unsigned char *bytes = NULL;
	size_t i;

	for (i = 0; i < top->count; i++) {
		if (contents->max > 0) {
			if (i % contents->max == 0)
				read_contents(contents, owners, i);
			bytes = contents->bytes[i % contents->max];
		}
		if (!add_entry(
			leaks, owners, mu_top_n_place(top, i), wanted, bytes))
			return false;
	}
	return true;
}

/* The number of entries to make. Where groups are reported, few suffice. */
static size_t
entries_limit(const struct owners *owners, const struct mu_fold_wanted *wanted)
{
	if (owners->groups.by == MU_BY_BLOCK || wanted->list ||
	    wanted->limit < FEW_ENTRIES)
		return wanted->limit;
	return FEW_ENTRIES;
}

static enum mu_status
list_entries(struct mu_leaks *leaks, struct owners *owners,
    const struct mu_fold_wanted *wanted, struct mu_arena *arena)
{
	const struct mu_graph *graph = lost_of(owners)->graph;
	struct mu_contents contents = { .max = 0 };
	size_t limit = entries_limit(owners, wanted);
	enum mu_status status;
	bool added;

	/* Owners with equal stacks are added up. */
	status = mu_components_sum_owners(owners->components,
	    owners->recorder == NULL ? limit : SIZE_MAX, arena);
	if (status == MU_OK)
		status = choose_owners(owners, limit, arena);
	if (status != MU_OK)
		return status;
	if (wanted->contents && owners->top.count >= MANY_ENTRIES)
		mu_contents_open(&contents, graph->blocks, graph->memory,
		    owners->top.count, (arena->limit - arena->used) / 2);
	added = add_entries(leaks, owners, wanted, &contents);
	mu_contents_close(&contents);
	return added ? MU_OK : MU_ERR_NO_MEMORY;
}

static void
note_moved(void *ctx, size_t size)
{
	const struct owners *owners = ctx;

	if (owners->recorder == NULL)
		mu_leaks_add_unrecorded(owners->leaks, size);
}

static void
find_groups(struct owners *owners, const struct mu_fold_wanted *wanted,
    struct mu_arena *arena)
{
	struct mu_groups *groups = &owners->groups;

	*groups = (struct mu_groups) { .by = wanted->by,
		.components = owners->components,
		.arena = arena,
		.moved = note_moved,
		.ctx = owners };
	if (wanted->by != MU_BY_BLOCK)
		mu_groups_find(groups, wanted->snap, wanted->limit);
}

/* If memory is exhausted, fewer than there are. */
static void
add_groups(struct mu_leaks *leaks, struct owners *owners,
    const struct mu_fold_wanted *wanted)
{
	struct mu_groups_info info = { .by = owners->groups.by,
		.num_total = owners->groups.count,
		.rest_blocks = leaks->num_leaks,
		.rest_bytes = leaks->leak_bytes };
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	struct mu_group *none;
	struct mu_lost_group group;
	struct mu_owner owner;
	uint32_t place;

	if (info.by == MU_BY_BLOCK)
		return;
	for (; info.count < owners->groups.top.count; info.count++) {
		mu_groups_describe(&owners->groups, info.count, &group, &place);
		if (!read_owner(owners, place, &owner, &none))
			break;
		describe_owner(
		    &group.example, owners, &owner, wanted, NULL, frames);
		if (!mu_packed_add_group(&leaks->entries, &group))
			break;
		info.rest_blocks -= group.num_blocks;
		info.rest_bytes -= group.total_bytes;
	}
	leaks->groups = info;
}

size_t
mu_fold_most(const struct mu_graph *graph)
{
	return graph->num_nodes * BYTES_EACH + graph->taken * BYTES_EDGE;
}

/* The limit to advise should be enough, so that it need not be raised twice. */
static void
note_wanted(const struct mu_graph *graph, size_t num_leaks)
{
	struct mu_arena *arena = graph->arena;
	size_t wanted = arena->used + num_leaks * BYTES_EACH +
	    graph->num_nodes * sizeof(*graph->cells);

	if (arena->refused != 0 && arena->refused < wanted)
		arena->refused = wanted;
}

static enum mu_status
lack_of_time(const struct mu_leaks *leaks, struct mu_why *why)
{
	return mu_why(why, MU_PARTIAL,
	    "%zu unreachable blocks were found, but there was not enough time"
	    " to tell which belong together" MU_CURE
	    "the option timeout gives more",
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

/* Note which owners, and groups of them, have an entry. */
static void
note_reported(struct mu_leaks *leaks, struct owners *owners)
{
	uint32_t place, component;
	struct mu_group *group;
	struct mu_owner owner;
	size_t i;

	for (i = 0; i < owners->top.count; i++) {
		place = mu_top_n_place(&owners->top, i);
		component = find_owner(owners, place, &group);
		if (group != NULL) {
			group->reported = true;
		} else if (component != MU_NO_COMPONENT) {
			mu_reported_note(owners->components, component);
		} else if (mu_owner_read_alone(
			       &owner, owners->components, place)) {
			leaks->unreported_count--;
			leaks->unreported_bytes -= owner.bytes;
		}
	}
}

/* Compute what is in no entry, if the limit cut any. */
static void
subtract_reported(struct mu_leaks *leaks, struct owners *owners)
{
	struct mu_reported reported;

	if (leaks->num_total == leaks->entries.count) {
		leaks->unreported_count = leaks->unreported_bytes = 0;
		return;
	}
	note_reported(leaks, owners);
	mu_reported_count(
	    &reported, owners->components, owners->similar.groups);
	leaks->unreported_count -= reported.count;
	leaks->unreported_bytes -= reported.bytes;
}

static bool
add_alone(void *ctx, const struct mu_block *block)
{
	size_t size = mu_range_size(block->range);
	struct mu_leaks *leaks = ctx;

	leaks->leak_bytes += size;
	mu_leaks_add_unrecorded(leaks, size);
	return true;
}

/*
 * Remove all entries. Totals are those of COMPONENTS; if NULL they are counted.
 */
static void
reset(struct mu_leaks *leaks, const struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, const struct mu_components *components)
{
	const struct mu_blocks *blocks = graph->blocks;
	const struct mu_lost *lost;

	*leaks = (struct mu_leaks) { .entries = { .arena = graph->arena,
					 .file = wanted->file } };
	if (blocks->recorder != NULL)
		leaks->sample_bytes = blocks->recorder->header.sample_bytes;
	if (components == NULL) {
		mu_lost_count(blocks, &leaks->num_leaks, &leaks->leak_bytes);
	} else {
		lost = components->trees.lost;
		leaks->num_leaks = lost->num_blocks + (size_t)lost->num_alone;
		leaks->leak_bytes = components->bytes;
		if (blocks->recorder == NULL) {
			leaks->unrecorded_least = components->least;
			leaks->unrecorded_most = components->most;
		}
		mu_lost_each_alone(lost, add_alone, leaks);
	}
	leaks->unreported_count = leaks->num_leaks;
	leaks->unreported_bytes = leaks->leak_bytes;
}

static enum mu_status
make_entries(struct mu_leaks *leaks, struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, struct mu_deadline *deadline,
    bool *complete)
{
	struct mu_arena *arena = graph->arena;
	struct mu_components components;
	struct owners owners = {
		.components = &components,
		.recorder = graph->blocks->recorder,
		.deadline = deadline,
		.leaks = leaks,
	};
	enum mu_status status;
	struct mu_lost lost;

	status = mu_lost_open(&lost, graph, deadline);
	lost.trees_only = wanted->by == MU_BY_BLOCK;
	if (status == MU_OK && lost.num_blocks + lost.num_alone == 0) {
		reset(leaks, graph, wanted, NULL);
		return MU_OK;
	}
	if (status == MU_OK)
		status =
		    mu_components_find(&components, &lost, arena, deadline);
	reset(leaks, graph, wanted, status == MU_OK ? &components : NULL);
	if (status == MU_OK)
		status = mu_components_sum_retained(&components, arena);
	if (status == MU_OK)
		find_groups(&owners, wanted, arena);
	if (status == MU_OK)
		status = list_entries(leaks, &owners, wanted, arena);
	if (status == MU_OK)
		add_groups(leaks, &owners, wanted);
	if (status == MU_OK)
		subtract_reported(leaks, &owners);
	*complete = *complete && !deadline->passed;
	return status;
}

/* The edges take most of the memory: without them there may be enough. */
static enum mu_status
make_entries_without(struct mu_leaks *leaks, struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, struct mu_deadline *deadline,
    bool *complete)
{
	size_t refused = graph->arena->refused;
	enum mu_status status;

	if (graph->cells == NULL || graph->unreadable)
		return MU_ERR_NO_MEMORY;
	mu_graph_forget_edges(graph);
	status = make_entries(leaks, graph, wanted, deadline, complete);
	if (status == MU_OK)
		graph->arena->refused = refused;
	return status;
}

/* Make entries of single blocks. */
static enum mu_status
make_alone(struct mu_leaks *leaks, struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, struct mu_why *why)
{
	mu_arena_rewind(graph->arena, graph->pieces);
	reset(leaks, graph, wanted, NULL);
	note_wanted(graph, leaks->num_leaks);
	mu_fold_alone(leaks, graph, wanted->limit, wanted->contents);
	return lack_of_memory(leaks, why);
}

enum mu_status
mu_fold(struct mu_leaks *leaks, struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, uint64_t deadline_ns,
    struct mu_why *why)
{
	struct mu_deadline deadline = { .ns = deadline_ns };
	struct mu_arena_piece *before = graph->arena->pieces;
	enum mu_status status;
	bool complete = true;

	if (wanted->limit == 0) {
		reset(leaks, graph, wanted, NULL);
		return MU_OK;
	}
	status = make_entries(leaks, graph, wanted, &deadline, &complete);
	if (status == MU_ERR_NO_MEMORY) {
		mu_arena_rewind(graph->arena, before);
		status = make_entries_without(
		    leaks, graph, wanted, &deadline, &complete);
	}
	if (status == MU_ERR_TIMEOUT)
		return lack_of_time(leaks, why);
	if (status != MU_OK)
		return make_alone(leaks, graph, wanted, why);
	if (!complete)
		return mu_why(why, MU_PARTIAL,
		    "the time ran out before all that the leaks refer to was "
		    "added up: some of these figures are too low");
	return MU_OK;
}

/*
 * Strongly connected components of the unreachable blocks.
 *
 * Tarjan's algorithm as simplified by Pearce ("A space-efficient algorithm
 * for finding strongly connected components", 2016), with the path on a stack
 * of our own: one number a node, and one array for the path (from its start)
 * and for the nodes whose component is not closed yet (from its end), since a
 * node is never in both.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/components.h"

#include "heapwalk/giant.h"

/* Of a node while searching: 0 unseen; an order, lower is older; */
#define CLOSED 0x80000000u /* or with this the component */

#define NO_NODE 0x7fffffffu /* as mu_component.lowest has it */

/* Beside what is left of the edges: it reaches an older node. */
#define HAS_OLDER MU_EDGES_FREE_BIT

struct search {
	const struct mu_lost *lost;
	struct mu_deadline *deadline;
	struct mu_lost_node *nodes; /* with their orders or components */
	uint32_t *stack; /* path at the front, open nodes at the back */
	uint32_t *edges; /* of the path: where each node goes on */
	uint32_t depth, open, num_seen, num_components;
	const uint64_t *giant; /* nodes of the giant component; or NULL */
};

static void
enter(struct search *search, uint32_t node)
{
	search->nodes[node].component = ++search->num_seen;
	search->stack[search->depth] = node;
	search->edges[search->depth] = mu_edges_first(search->lost, node);
	search->depth++;
}

/* NODE, which has order ORDER, is the oldest of its component. */
static void
close_component(struct search *search, uint32_t node, uint32_t order)
{
	uint32_t closed = CLOSED | search->num_components++, *component;

	for (; search->open < search->lost->num_nodes; search->open++) {
		component =
		    &search->nodes[search->stack[search->open]].component;
		if (*component < order)
			break;
		*component = closed;
	}
	search->nodes[node].component = closed;
}

/* All edges of the last node of the path were followed. */
static void
leave(struct search *search)
{
	uint32_t node = search->stack[--search->depth];
	uint32_t order = search->nodes[node].component, *parent;

	if ((search->edges[search->depth] & HAS_OLDER) == 0) {
		close_component(search, node, order);
		return;
	}
	search->stack[--search->open] = node;
	if (search->depth == 0)
		return;
	parent = &search->nodes[search->stack[search->depth - 1]].component;
	if (order < *parent) {
		*parent = order;
		search->edges[search->depth - 1] |= HAS_OLDER;
	}
}

/* Follow edges from the last node of the path until one leads to a new one. */
static void
follow(struct search *search)
{
	const struct mu_lost *lost = search->lost;
	uint32_t node = search->stack[search->depth - 1], target;
	uint32_t *at = &search->edges[search->depth - 1], *component;
	uint32_t *own = &search->nodes[node].component, older = *at & HAS_OLDER;
	struct mu_edges edges;

	mu_edges_open(&edges, lost, node, *at & ~HAS_OLDER, search->deadline);
	while (mu_edges_next(&edges, &target)) {
		component = &search->nodes[target].component;
		if (*component == 0 && !mu_edges_none(lost, target)) {
			*at = edges.at | older;
			enter(search, target);
			return;
		}
		if (*component == 0) {
			*component = CLOSED | search->num_components++;
		} else if (*component < *own) {
			*own = *component;
			older = HAS_OLDER;
		}
	}
	*at = older;
	leave(search);
}

/* NODE, if it was not seen yet, and all below it. False: no time. */
static bool
search_from(struct search *search, uint32_t node)
{
	if (search->nodes[node].component != 0)
		return true;
	for (enter(search, node); search->depth > 0;) {
		follow(search);
		if (search->deadline->passed)
			return false;
	}
	return true;
}

/* The giant component; before it, what it leads to and is no part of it. */
static bool
search_giant(struct search *search, const struct mu_giant *giant)
{
	uint32_t num_nodes = search->lost->num_nodes, node, base, closed;
	uint64_t bits;

	for (base = 0; base < num_nodes; base += 64) {
		bits = giant->below[base / 64] & ~giant->members[base / 64];
		for (; bits != 0; bits &= bits - 1) {
			node = base + (uint32_t)__builtin_ctzll(bits);
			if (!search_from(search, node))
				return false;
		}
	}
	search->giant = giant->members;
	closed = CLOSED | search->num_components++;
	for (node = 0; node < num_nodes; node++)
		if (mu_giant_has(giant->members, node))
			search->nodes[node].component = closed;
	return true;
}

static bool
search_all(struct search *search, struct mu_arena *arena)
{
	const struct mu_lost *lost = search->lost;
	struct mu_giant giant;
	uint32_t node;

	if (mu_giant_find(&giant, lost, search->stack, search->edges, arena,
		search->deadline) &&
	    !search_giant(search, &giant))
		return false;
	for (node = 0; node < lost->num_nodes; node++)
		if (!search_from(search, node))
			return false;
	return true;
}

/* Sum up the nodes of each component, and chain them by address. */
static void
gather(struct mu_components *components)
{
	struct mu_component *component;
	uint32_t node, i, *number;

	for (i = 0; i < components->num_components; i++) {
		components->all[i].parent = MU_NO_PARENT;
		components->all[i].complete = 1;
		components->all[i].lowest = NO_NODE;
	}
	for (node = components->lost->num_nodes; node-- > 0;) {
		number = &components->lost->nodes[node].component;
		*number &= ~CLOSED;
		component = &components->all[*number];
		components->next_member[node] =
		    component->lowest != NO_NODE ? component->lowest : node;
		component->lowest = node;
		component->count += node < components->lost->num_blocks;
		component->bytes += mu_lost_size(components->lost, node);
	}
}

static void
note_parent(struct mu_components *components, uint32_t parent, uint32_t child)
{
	struct mu_component *all = components->all;

	if (all[child].visitor != UINT32_MAX)
		all[child].visitor++;
	if (all[child].parent == MU_NO_PARENT) {
		all[child].parent = parent;
	} else if (all[child].parent != parent) {
		if (all[child].parent != MU_MANY_PARENT)
			all[all[child].parent].complete = 0;
		all[child].parent = MU_MANY_PARENT;
		all[parent].complete = 0;
	}
}

/* GIANT: nodes of one component; or NULL. */
static void
find_parents(struct mu_components *components, const uint64_t *giant)
{
	const struct mu_lost *lost = components->lost;
	struct mu_edges edges;
	uint32_t node, target, from, to;
	bool inside;

	for (node = 0; node < lost->num_nodes; node++) {
		from = components->lost->nodes[node].component;
		if (mu_edges_none(lost, node))
			continue;
		inside = giant != NULL && mu_giant_has(giant, node);
		mu_edges_open(&edges, lost, node, mu_edges_first(lost, node),
		    components->deadline);
		while (mu_edges_next(&edges, &target)) {
			if (inside && mu_giant_has(giant, target))
				continue;
			to = components->lost->nodes[target].component;
			if (from != to)
				note_parent(components, from, to);
		}
		if (components->deadline->passed)
			return;
	}
}

/* Children have lower numbers, so they are complete before their parents. */
static void
add_up_trees(struct mu_components *components)
{
	struct mu_component *child, *parent;
	uint32_t i;

	for (i = 0; i < components->num_components; i++) {
		child = &components->all[i];
		if (child->parent < MU_MANY_PARENT && !child->complete)
			components->all[child->parent].complete = 0;
	}
	for (i = 0; i < components->num_components; i++) {
		child = &components->all[i];
		if (child->parent >= MU_MANY_PARENT || !child->complete)
			continue;
		parent = &components->all[child->parent];
		if (!parent->complete)
			continue;
		parent->count += child->count;
		parent->bytes += child->bytes;
	}
}

static bool
open_search(
    struct search *search, const struct mu_lost *lost, struct mu_arena *arena)
{
	size_t count = lost->num_nodes;

	search->lost = lost;
	search->open = lost->num_nodes;
	search->nodes = lost->nodes;
	search->stack =
	    mu_arena_alloc_table(arena, count, sizeof(*search->stack));
	search->edges =
	    mu_arena_alloc_table(arena, count, sizeof(*search->edges));
	return search->stack != NULL && search->edges != NULL;
}

enum mu_status
mu_components_find(struct mu_components *components, const struct mu_lost *lost,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct search search = { .deadline = deadline };

	*components = (struct mu_components) {
		.lost = lost, .hub = MU_NO_HUB, .deadline = deadline
	};
	if (!open_search(&search, lost, arena))
		return MU_ERR_NO_MEMORY;
	if (!search_all(&search, arena))
		return MU_ERR_TIMEOUT;

	components->num_components = search.num_components;
	components->next_member = search.stack;
	components->pending = search.edges;
	components->all = mu_arena_alloc_table(
	    arena, search.num_components, sizeof(*components->all));
	components->deferred = mu_arena_alloc_table(
	    arena, search.num_components, sizeof(*components->deferred));
	if (components->all == NULL || components->deferred == NULL)
		return MU_ERR_NO_MEMORY;
	gather(components);
	find_parents(components, search.giant);
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	add_up_trees(components);
	return MU_OK;
}

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

/* Beside an address of user space on the path: it reaches an older node. */
#define HAS_OLDER (~(UINTPTR_MAX >> 1))

struct search {
	const struct mu_graph *graph;
	struct mu_deadline *deadline;
	uint32_t *stack;  /* path at the front, open nodes at the back */
	uintptr_t *words; /* of the path: where each node goes on */
	uint32_t depth, open, num_seen, num_components;
};

static void
enter(struct search *search, uint32_t node)
{
	*mu_graph_component(search->graph, node) = ++search->num_seen;
	search->stack[search->depth] = node;
	search->words[search->depth] = mu_edges_first(search->graph, node);
	search->depth++;
}

/* NODE, which has order ORDER, is the oldest of its component. */
static void
close_component(struct search *search, uint32_t node, uint32_t order)
{
	uint32_t closed = CLOSED | search->num_components++, *component;

	for (; search->open < search->graph->num_nodes; search->open++) {
		component = mu_graph_component(
		    search->graph, search->stack[search->open]);
		if (*component < order)
			break;
		*component = closed;
	}
	*mu_graph_component(search->graph, node) = closed;
}

/* All edges of the last node of the path were followed. */
static void
leave(struct search *search)
{
	uint32_t node = search->stack[--search->depth];
	uint32_t order = *mu_graph_component(search->graph, node), *parent;

	if ((search->words[search->depth] & HAS_OLDER) == 0) {
		close_component(search, node, order);
		return;
	}
	search->stack[--search->open] = node;
	if (search->depth == 0)
		return;
	parent =
	    mu_graph_component(search->graph, search->stack[search->depth - 1]);
	if (order < *parent) {
		*parent = order;
		search->words[search->depth - 1] |= HAS_OLDER;
	}
}

/* Follow edges from the last node of the path until one leads to a new one. */
static void
follow(struct search *search)
{
	const struct mu_graph *graph = search->graph;
	uint32_t node = search->stack[search->depth - 1], target;
	uintptr_t *word = &search->words[search->depth - 1];
	uint32_t *own = mu_graph_component(graph, node), *component;
	uintptr_t older = *word & HAS_OLDER;
	struct mu_edges edges;

	mu_edges_open(
	    &edges, graph, node, *word & ~HAS_OLDER, search->deadline);
	while (mu_edges_next(&edges, graph, &target)) {
		component = mu_graph_component(graph, target);
		if (*component == 0 && !mu_edges_none(graph, target)) {
			*word = edges.at | older;
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
	*word = older;
	leave(search);
}

/* NODE, if it was not seen yet, and all below it. False: no time. */
static bool
search_from(struct search *search, uint32_t node)
{
	if (*mu_graph_component(search->graph, node) != 0)
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
	uint32_t num_nodes = search->graph->num_nodes, node, base, closed;
	uint64_t bits;

	for (base = 0; base < num_nodes; base += 64) {
		bits = giant->below[base / 64] & ~giant->members[base / 64];
		for (; bits != 0; bits &= bits - 1) {
			node = base + (uint32_t)__builtin_ctzll(bits);
			if (!search_from(search, node))
				return false;
		}
	}
	closed = CLOSED | search->num_components++;
	for (node = 0; node < num_nodes; node++)
		if (mu_giant_has(giant->members, node))
			*mu_graph_component(search->graph, node) = closed;
	return true;
}

static bool
search_all(struct search *search, struct mu_arena *arena)
{
	const struct mu_graph *graph = search->graph;
	struct mu_giant giant;
	uint32_t node;

	if (mu_giant_find(
		&giant, graph, search->stack, arena, search->deadline) &&
	    !search_giant(search, &giant))
		return false;
	for (node = 0; node < graph->num_nodes; node++)
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
	}
	for (node = components->graph->num_nodes; node-- > 0;) {
		number = mu_graph_component(components->graph, node);
		*number &= ~CLOSED;
		component = &components->all[*number];
		components->next_member[node] =
		    component->count > 0 ? component->lowest : node;
		component->lowest = node;
		component->count++;
		component->bytes += mu_graph_size(components->graph, node);
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

static void
find_parents(struct mu_components *components)
{
	const struct mu_graph *graph = components->graph;
	struct mu_edges edges;
	uint32_t node, target, from, to;

	for (node = 0; node < graph->num_nodes; node++) {
		from = *mu_graph_component(graph, node);
		if (mu_edges_none(graph, node))
			continue;
		mu_edges_open(&edges, graph, node, mu_edges_first(graph, node),
		    components->deadline);
		while (mu_edges_next(&edges, graph, &target)) {
			to = *mu_graph_component(graph, target);
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

enum mu_status
mu_components_find(struct mu_components *components,
    const struct mu_graph *graph, struct mu_arena *arena,
    struct mu_deadline *deadline)
{
	struct search search = { .graph = graph, .deadline = deadline };

	*components =
	    (struct mu_components) { .graph = graph, .deadline = deadline };
	search.stack = mu_arena_alloc_table(
	    arena, graph->num_nodes, sizeof(*search.stack));
	search.words = mu_arena_alloc_table(
	    arena, graph->num_nodes, sizeof(*search.words));
	if (search.stack == NULL || search.words == NULL)
		return MU_ERR_NO_MEMORY;
	search.open = graph->num_nodes;
	if (!search_all(&search, arena))
		return MU_ERR_TIMEOUT;

	components->num_components = search.num_components;
	components->next_member = search.stack;
	components->pending = (uint32_t *)search.words;
	components->deferred = components->pending + graph->num_nodes;
	components->all = mu_arena_alloc_table(
	    arena, search.num_components, sizeof(*components->all));
	if (components->all == NULL)
		return MU_ERR_NO_MEMORY;
	gather(components);
	find_parents(components);
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	add_up_trees(components);
	return MU_OK;
}

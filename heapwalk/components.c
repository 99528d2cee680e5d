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

/* In of_node while searching: 0 unseen; an order, lower is older; or: */
#define CLOSED 0x80000000u /* and the component */

/* Beside an address of user space on the path: it reaches an older node. */
#define HAS_OLDER (~(UINTPTR_MAX >> 1))

struct search {
	const struct mu_graph *graph;
	struct mu_deadline *deadline;
	uint32_t *order;  /* node to order or component; see above */
	uint32_t *nodes;  /* path at the front, open nodes at the back */
	uintptr_t *words; /* of the path: where each node goes on */
	uint32_t depth, open, num_seen, num_components;
};

static void
enter(struct search *search, uint32_t node)
{
	search->order[node] = ++search->num_seen;
	search->nodes[search->depth] = node;
	search->words[search->depth] = search->graph->begins[node];
	search->depth++;
}

/* The last node of the path can reach what TARGET can. */
static void
relax(struct search *search, uint32_t target)
{
	uint32_t node = search->nodes[search->depth - 1];

	if (search->order[target] < search->order[node]) {
		search->order[node] = search->order[target];
		search->words[search->depth - 1] |= HAS_OLDER;
	}
}

/* All edges of the last node of the path were followed. */
static void
leave(struct search *search)
{
	uint32_t node = search->nodes[--search->depth], order, closed;
	bool has_older = (search->words[search->depth] & HAS_OLDER) != 0;

	if (has_older) {
		search->nodes[--search->open] = node;
	} else {
		order = search->order[node];
		closed = CLOSED | search->num_components++;
		while (search->open < search->graph->num_nodes &&
		    search->order[search->nodes[search->open]] >= order)
			search->order[search->nodes[search->open++]] = closed;
		search->order[node] = closed;
	}
	if (search->depth > 0)
		relax(search, node);
}

/* Follow edges from the last node of the path until one leads to a new one. */
static void
follow(struct search *search)
{
	uint32_t node = search->nodes[search->depth - 1], target;
	uintptr_t *word = &search->words[search->depth - 1];
	struct mu_edges edges;

	mu_edges_open(
	    &edges, search->graph, node, *word & ~HAS_OLDER, search->deadline);
	while (mu_edges_next(&edges, search->graph, &target)) {
		if (search->order[target] != 0) {
			relax(search, target);
			continue;
		}
		*word = edges.at | (*word & HAS_OLDER);
		enter(search, target);
		return;
	}
	leave(search);
}

static bool
search_all(struct search *search)
{
	uint32_t node;

	search->open = search->graph->num_nodes;
	for (node = 0; node < search->graph->num_nodes; node++) {
		if (search->order[node] != 0)
			continue;
		enter(search, node);
		while (search->depth > 0) {
			follow(search);
			if (search->deadline->passed)
				return false;
		}
	}
	return true;
}

/* Sum up the nodes of each component, and chain them by address. */
static void
gather(struct mu_components *components)
{
	struct mu_component *component;
	struct mu_block block;
	uint32_t node, i;

	for (i = 0; i < components->num_components; i++) {
		components->all[i].parent = MU_NO_PARENT;
		components->all[i].complete = 1;
	}
	for (node = components->graph->num_nodes; node-- > 0;) {
		components->of_node[node] &= ~CLOSED;
		component = &components->all[components->of_node[node]];
		components->next_member[node] =
		    component->count > 0 ? component->lowest : node;
		component->lowest = node;
		component->count++;
		if (mu_graph_block(components->graph, node, &block))
			component->bytes += mu_range_size(block.range);
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
	struct mu_edges edges;
	uint32_t node, target, from, to;

	for (node = 0; node < components->graph->num_nodes; node++) {
		from = components->of_node[node];
		mu_edges_open(&edges, components->graph, node,
		    components->graph->begins[node], components->deadline);
		while (mu_edges_next(&edges, components->graph, &target)) {
			to = components->of_node[target];
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
	search.order =
	    mu_arena_alloc(arena, graph->num_nodes, sizeof(*search.order));
	search.nodes =
	    mu_arena_alloc(arena, graph->num_nodes, sizeof(*search.nodes));
	search.words =
	    mu_arena_alloc(arena, graph->num_nodes, sizeof(*search.words));
	if (search.order == NULL || search.nodes == NULL ||
	    search.words == NULL)
		return MU_ERR_NO_MEMORY;
	if (!search_all(&search))
		return MU_ERR_TIMEOUT;

	components->num_components = search.num_components;
	components->of_node = search.order;
	components->next_member = search.nodes;
	components->pending = (uint32_t *)search.words;
	components->deferred = components->pending + graph->num_nodes;
	components->all = mu_arena_alloc(
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

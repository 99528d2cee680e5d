#include "heapwalk/explain/routes.h"

#include "heapwalk/explain/edges.h"
#include "heapwalk/graph/references.h"

#define ROOT 0x80000000u
#define DOUBTFUL 0x40000000u
#define FLAGS (ROOT | DOUBTFUL)

struct finding {
	struct mu_routes *routes;
	struct mu_deadline *deadline;
	size_t begin; /* of what is to be followed, in routes->order */
};

static bool
is_doubtful(const struct mu_held_word *word)
{
	return word->kind != MU_HELD_GLOBALS && word->kind != MU_HELD_TLS &&
	    word->kind != MU_HELD_REGION && word->kind != MU_HELD_VALUE;
}

static void
reach(struct finding *finding, uint32_t node, uint32_t parent)
{
	struct mu_routes *routes = finding->routes;

	if (routes->parents[node] != MU_NO_NODE)
		return;
	routes->parents[node] = parent;
	routes->order[routes->num_order++] = node;
}

static void
follow(struct finding *finding, uint32_t doubtful)
{
	const struct mu_routes *routes = finding->routes;
	const struct mu_graph *graph = routes->graph;
	uint32_t node, at, target;

	while (finding->begin < routes->num_order) {
		node = routes->order[finding->begin++];
		at = graph->cells[node];
		if (mu_deadline_passed(finding->deadline, 8))
			return;
		while (mu_edges_next(graph, &at, &target))
			reach(finding, target, node | doubtful);
	}
}

static void
follow_words(struct finding *finding, bool doubtful)
{
	const struct mu_held *held = finding->routes->held;
	uint32_t flag = doubtful ? DOUBTFUL : 0;
	size_t i;

	for (i = 0; i < held->count; i++)
		if (is_doubtful(&held->words[i]) == doubtful)
			reach(finding, held->words[i].node,
			    (uint32_t)i | ROOT | flag);
	follow(finding, flag);
}

enum mu_status
mu_routes_find(struct mu_routes *routes, const struct mu_graph *graph,
    const struct mu_held *held, struct mu_arena *arena,
    struct mu_deadline *deadline)
{
	struct finding finding = { .routes = routes, .deadline = deadline };
	uint32_t node;

	*routes = (struct mu_routes) { .graph = graph, .held = held };
	/* Numbers that collide with the flags cannot be stored. */
	if (graph->cells == NULL || graph->reads ||
	    graph->num_nodes >= DOUBTFUL || held->count >= DOUBTFUL - 1)
		return MU_ERR_NO_MEMORY;
	routes->parents = mu_arena_alloc_table(
	    arena, (size_t)graph->num_nodes + 1, sizeof(uint32_t));
	routes->order = mu_arena_alloc_table(
	    arena, (size_t)graph->num_nodes + 1, sizeof(uint32_t));
	if (routes->parents == NULL || routes->order == NULL)
		return MU_ERR_NO_MEMORY;
	for (node = 0; node < graph->num_nodes; node++)
		routes->parents[node] = MU_NO_NODE;
	follow_words(&finding, false);
	follow_words(&finding, true);
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}

struct mu_route_step
mu_routes_step(const struct mu_routes *routes, uint32_t node)
{
	uint32_t parent = routes->parents[node];

	if (parent == MU_NO_NODE)
		return (struct mu_route_step) { .index = MU_NO_NODE };
	return (struct mu_route_step) {
		.root = (parent & ROOT) != 0,
		.doubtful = (parent & DOUBTFUL) != 0,
		.index = parent & ~FLAGS,
	};
}

uint32_t
mu_route_block(const struct mu_graph *graph, uint32_t node)
{
	return node < graph->num_blocks
	    ? node
	    : graph->parts[node - graph->num_blocks].block;
}

bool
mu_route_word(const struct mu_graph *graph, uint32_t from, uint32_t to,
    struct mu_range links, size_t *offset, size_t *into)
{
	const struct mu_blocks *blocks = graph->blocks;
	struct mu_block block, target;
	uintptr_t at, word;
	size_t step;
	bool code;

	if (!mu_blocks_at(blocks, from, &block))
		return false;
	code = mu_reference_in_code(blocks, block.range);
	step = mu_reference_step(blocks, code);
	at = mu_reference_first(blocks, code, block.range.begin);
	for (; mu_reference_word(block.range, block.view, code, at, &word);
	     at += step) {
		if (mu_range_has(links, at) ||
		    !mu_reference_find(blocks, at, word, &target) ||
		    target.number != to)
			continue;
		*offset = at - block.range.begin;
		*into = mu_reference_untag(blocks, word) - target.range.begin;
		return true;
	}
	return false;
}

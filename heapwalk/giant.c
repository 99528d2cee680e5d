/*
 * The giant component: see heapwalk/giant.h.
 *
 * All that a node in it leads to, breadth first; of that, all that leads to
 * this node: nodes without a way to it yet are gone through by number, again
 * and again, until none of them gets an edge to one that has. Both sets are
 * bits, 1/8 byte a node, which stay in the cache.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/giant.h"

#define MIN_NODES 65536 /* fewer stay in the cache anyway */
#define SHARE 8         /* of the nodes, at least one in that many */
#define MAX_ROUNDS 16
#define AHEAD 16       /* cache lines on the way at once */
#define STRIDE 1024    /* nodes between two looks at what is waiting */
#define FEW_WAITING 32 /* as in a chain: depth first is no slower */
#define STARTS 16
#define STEPS 32

struct finding {
	const struct mu_graph *graph;
	struct mu_giant *giant;
	uint32_t *queue;
	struct mu_deadline *deadline;
};

static void
set(uint64_t *bits, uint32_t node)
{
	bits[node / 64] |= 1ull << (node % 64);
}

static void
open_edges(const struct finding *finding, uint32_t node, struct mu_edges *edges)
{
	mu_edges_open(edges, finding->graph, node,
	    mu_edges_first(finding->graph, node), finding->deadline);
}

/* One of the nodes that NODE has edges to and that has edges itself. */
static bool
go_on(const struct finding *finding, uint32_t *node, uint32_t skip)
{
	struct mu_edges edges;
	uint32_t next;
	bool found = false;

	open_edges(finding, *node, &edges);
	while (mu_edges_next(&edges, finding->graph, &next)) {
		if (mu_edges_none(finding->graph, next))
			continue;
		*node = next;
		found = true;
		if (skip-- == 0)
			break;
	}
	return found;
}

/* A node that a walk of some steps leads to; false if all walks end. */
static bool
find_start(const struct finding *finding, uint32_t *node)
{
	uint32_t start, step;

	for (start = 0; start < STARTS; start++) {
		*node = finding->graph->num_nodes / STARTS * start;
		/* Not always the first edge: walks would meet. */
		for (step = 0; step < STEPS; step++)
			if (!go_on(finding, node, step % 3))
				break;
		if (step == STEPS)
			return true;
	}
	return false;
}

/* All that NODE leads to; 0 if that is too few, or as a chain. */
static uint32_t
find_below(const struct finding *finding, uint32_t node)
{
	const struct mu_graph *graph = finding->graph;
	uint64_t *below = finding->giant->below;
	uint32_t *queue = finding->queue, head = 0, tail = 0, target;
	struct mu_edges edges;

	set(below, node);
	for (queue[tail++] = node; head < tail; head++) {
		if (head % STRIDE == STRIDE - 1 && tail - head < FEW_WAITING &&
		    tail < graph->num_nodes / SHARE)
			return 0;
		if (head + AHEAD < tail)
			__builtin_prefetch(
			    mu_graph_component(graph, queue[head + AHEAD]));
		open_edges(finding, queue[head], &edges);
		while (mu_edges_next(&edges, graph, &target)) {
			if (mu_giant_has(below, target))
				continue;
			set(below, target);
			queue[tail++] = target;
		}
		if (finding->deadline->passed)
			return 0;
	}
	return tail >= graph->num_nodes / SHARE ? tail : 0;
}

/* Does NODE have an edge to a member? */
static bool
leads_to(const struct finding *finding, uint32_t node)
{
	const uint64_t *members = finding->giant->members;
	struct mu_edges edges;
	uint32_t target;

	open_edges(finding, node, &edges);
	while (mu_edges_next(&edges, finding->graph, &target))
		if (mu_giant_has(members, target))
			return true;
	return false;
}

/* Of the nodes in word INDEX of the bits, those that lead to a member. */
static uint32_t
add_some(const struct finding *finding, uint32_t index)
{
	uint64_t *members = &finding->giant->members[index], bits;
	uint32_t count = 0, bit;

	for (bits = finding->giant->below[index] & ~*members; bits != 0;
	     bits &= bits - 1) {
		bit = (uint32_t)__builtin_ctzll(bits);
		if (!leads_to(finding, index * 64 + bit))
			continue;
		*members |= 1ull << bit;
		count++;
	}
	return count;
}

/*
 * Rounds go up and down in turn: what is found in a round serves it, too, if
 * edges lead against its direction.
 */
static bool
find_members(const struct finding *finding, uint32_t node)
{
	uint32_t num_words = finding->graph->num_nodes / 64 + 1, i;
	uint32_t count = 1, added, round;

	set(finding->giant->members, node);
	for (round = 0; round < MAX_ROUNDS; round++) {
		added = 0;
		for (i = 0; i < num_words; i++)
			added += add_some(
			    finding, round % 2 ? num_words - 1 - i : i);
		count += added;
		if (finding->deadline->passed)
			return false;
		if (added == 0)
			return count >= finding->graph->num_nodes / SHARE;
	}
	return false;
}

bool
mu_giant_find(struct mu_giant *giant, const struct mu_graph *graph,
    uint32_t *queue, struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct finding finding = { graph, giant, queue, deadline };
	size_t words = (size_t)graph->num_nodes / 64 + 1;
	size_t refused = arena->refused;
	uint32_t node;

	if (!mu_edges_stored(graph) || graph->num_nodes < MIN_NODES ||
	    !find_start(&finding, &node))
		return false;
	giant->below = mu_arena_alloc(arena, words, sizeof(*giant->below));
	giant->members = mu_arena_alloc(arena, words, sizeof(*giant->members));
	arena->refused = refused;
	return giant->below != NULL && giant->members != NULL &&
	    find_below(&finding, node) != 0 && find_members(&finding, node);
}

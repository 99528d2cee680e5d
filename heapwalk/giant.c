/*
 * The giant component: see heapwalk/giant.h.
 *
 * All that a node in it leads to, breadth first; of that, all that leads to
 * this node: nodes without a way to it yet are gone through by number, again
 * and again, until none of them gets an edge to one that has. With a node go
 * all those by which it was found first: they lead to it. Both sets are bits,
 * 1/8 byte a node, which stay in the cache.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/giant.h"

#define MIN_NODES 65536 /* fewer stay in the cache anyway */
#define SHARE 8         /* of the nodes, at least one in that many */
#define MAX_LOOKS 16    /* at each node that may be a member */
#define AHEAD 16        /* cache lines on the way at once */
#define STRIDE 1024     /* nodes between two looks at what is waiting */
#define FEW_WAITING 32  /* as in a chain: depth first is no slower */
#define STARTS 16
#define STEPS 32

struct finding {
	const struct mu_lost *lost;
	struct mu_giant *giant;
	uint32_t *queue, *parents;
	struct mu_deadline *deadline;
};

static void
set(uint64_t *bits, uint32_t node)
{
	bits[node / 64] |= 1ull << (node % 64);
}

static inline void
open_edges(const struct finding *finding, uint32_t node, struct mu_edges *edges)
{
	mu_edges_open(edges, finding->lost, node,
	    mu_edges_first(finding->lost, node), finding->deadline);
}

/* One of the nodes that NODE has edges to and that has edges itself. */
static bool
go_on(const struct finding *finding, uint32_t *node, uint32_t skip)
{
	struct mu_edges edges;
	uint32_t next;
	bool found = false;

	open_edges(finding, *node, &edges);
	while (mu_edges_next(&edges, &next)) {
		if (mu_edges_none(finding->lost, next))
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
		*node = finding->lost->num_nodes / STARTS * start;
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
	const struct mu_lost *lost = finding->lost;
	uint64_t *below = finding->giant->below;
	uint32_t *queue = finding->queue, head = 0, tail = 0, target;
	struct mu_edges edges;

	set(below, node);
	for (queue[tail++] = node; head < tail; head++) {
		if (head % STRIDE == STRIDE - 1 && tail - head < FEW_WAITING &&
		    tail < lost->num_nodes / SHARE)
			return 0;
		if (head + 2 * AHEAD < tail)
			__builtin_prefetch(
			    &lost->nodes[queue[head + 2 * AHEAD]]);
		if (head + AHEAD < tail)
			mu_edges_expect(lost, queue[head + AHEAD]);
		open_edges(finding, queue[head], &edges);
		while (mu_edges_next(&edges, &target)) {
			if (mu_giant_has(below, target))
				continue;
			set(below, target);
			finding->parents[target] = queue[head];
			queue[tail++] = target;
		}
		if (finding->deadline->passed)
			return 0;
	}
	return tail >= lost->num_nodes / SHARE ? tail : 0;
}

/* Does NODE have an edge to a member? */
static bool
leads_to(const struct finding *finding, uint32_t node)
{
	const uint64_t *members = finding->giant->members;
	struct mu_edges edges;
	uint32_t target;

	open_edges(finding, node, &edges);
	while (mu_edges_next(&edges, &target))
		if (mu_giant_has(members, target))
			return true;
	return false;
}

/* NODE and those by which it was found, up to the first member; how many. */
static uint32_t
add_member(const struct finding *finding, uint32_t node)
{
	uint64_t *members = finding->giant->members;
	uint32_t count = 0;

	for (; !mu_giant_has(members, node); node = finding->parents[node]) {
		set(members, node);
		count++;
	}
	return count;
}

/* Of the nodes in word INDEX of the bits, those that lead to a member. */
static uint32_t
add_some(const struct finding *finding, uint32_t index, size_t *looks)
{
	const uint64_t *members = &finding->giant->members[index];
	uint64_t bits = finding->giant->below[index] & ~*members;
	uint32_t count = 0, node;

	for (; bits != 0; bits &= bits - 1) {
		node = index * 64 + (uint32_t)__builtin_ctzll(bits);
		if (leads_to(finding, node))
			count += add_member(finding, node);
		++*looks;
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
	uint32_t num_nodes = finding->lost->num_nodes;
	uint32_t num_words = num_nodes / 64 + 1, i, count = 1, before, round;
	size_t looks = 0;

	set(finding->giant->members, node);
	for (round = 0; looks < (size_t)MAX_LOOKS * num_nodes; round++) {
		before = count;
		for (i = 0; i < num_words; i++)
			count += add_some(
			    finding, round % 2 ? num_words - 1 - i : i, &looks);
		looks += num_words;
		if (finding->deadline->passed)
			return false;
		if (count == before)
			return count >= num_nodes / SHARE;
	}
	return false;
}

bool
mu_giant_find(struct mu_giant *giant, const struct mu_lost *lost,
    uint32_t *queue, uint32_t *parents, struct mu_arena *arena,
    struct mu_deadline *deadline)
{
	struct finding finding = { lost, giant, queue, parents, deadline };
	size_t words = (size_t)lost->num_nodes / 64 + 1;
	size_t refused = arena->refused;
	uint32_t node;

	if (lost->graph->cells == NULL || lost->num_nodes < MIN_NODES ||
	    !find_start(&finding, &node))
		return false;
	giant->below = mu_arena_alloc(arena, words, sizeof(*giant->below));
	giant->members = mu_arena_alloc(arena, words, sizeof(*giant->members));
	arena->refused = refused;
	return giant->below != NULL && giant->members != NULL &&
	    find_below(&finding, node) != 0 && find_members(&finding, node);
}

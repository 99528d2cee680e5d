/*
 * Dominators by sweeps (after Cooper, Harvey and Kennedy 2001).
 *
 * A search by breadth numbers the nodes, so that a dominator has a lower number
 * than what it dominates. At first each node's parent in the tree of the search
 * stands for its dominator. A sweep makes it, for each edge that leads to the
 * node, the nearest common ancestor of the two. When a sweep has changed
 * nothing, each parent is an ancestor of all that leads to its child, and so it
 * dominates.
 *
 * Sweeps go up and down in turns, as what one direction passes on from node to
 * node, the other does at once. A node whose parent is the top is done.
 */
#include "heapwalk/explain/dominators.h"
#include "heapwalk/explain/edges.h"

#define HOLDER 0x80000000u
#define BATCH 64
#define AHEAD 24     /* nodes and edges whose memory is prefetched */
#define SWEEPS 32    /* before it gives up */
#define STEPS_MAX 16 /* steps up the tree, for each edge and node */

struct sweeping {
	struct mu_dominators *out;
	const struct mu_graph *graph;
	const struct mu_holders *holders;
	struct mu_deadline *deadline;
	uint32_t *parents;
	uint32_t *first_parents; /* in the tree of the search */
	uint32_t certain; /* highest number that a certain holder leads to */

	/* The search: a node by number, or HOLDER and the holder's index. */
	uint32_t *queue;
	uint32_t head; /* last number whose edges were taken */

	/* Edges that wait for the cache, in order. */
	size_t waiting;
	uint32_t from[BATCH], to[BATCH];

	/*
	 * The edges that are not in the tree: those from number I are at
	 * firsts[I] to firsts[I + 1] - 1.
	 */
	uint32_t *firsts, *edges;
	uint32_t num_edges;
	uint32_t opened; /* last number that has its first */

	size_t steps, most_steps;
};

static void
enter(struct sweeping *sweeping, uint32_t what, uint32_t parent)
{
	uint32_t number = ++sweeping->out->count;

	sweeping->queue[number] = what;
	sweeping->parents[number] = parent;
	sweeping->first_parents[number] = parent;
}

static void
add_edge(struct sweeping *sweeping, uint32_t from, uint32_t to)
{
	while (sweeping->opened < from)
		sweeping->firsts[++sweeping->opened] = sweeping->num_edges;
	sweeping->edges[sweeping->num_edges++] = to;
}

static void
take_waiting(struct sweeping *sweeping)
{
	struct mu_dominators *out = sweeping->out;
	uint32_t *number;
	size_t i;

	for (i = 0; i < sweeping->waiting; i++) {
		number = &out->numbers[out->num_holders + sweeping->to[i]];
		if (*number == 0) {
			enter(sweeping, sweeping->to[i], sweeping->from[i]);
			*number = out->count;
		} else if (sweeping->from[i] <= sweeping->certain ||
		    *number > sweeping->certain) {
			add_edge(sweeping, sweeping->from[i], *number);
		}
	}
	sweeping->waiting = 0;
}

static inline void
wait_for(struct sweeping *sweeping, uint32_t from, uint32_t target)
{
	if (sweeping->waiting == BATCH)
		take_waiting(sweeping);
	__builtin_prefetch(
	    &sweeping->out->numbers[sweeping->out->num_holders + target]);
	sweeping->from[sweeping->waiting] = from;
	sweeping->to[sweeping->waiting++] = target;
}

/* Prefetch the edges of a node that is taken soon. */
static inline void
prefetch(const struct sweeping *sweeping, uint32_t number)
{
	const struct mu_graph *graph = sweeping->graph;
	uint32_t count = sweeping->out->count, what, cell;

	what = number + 2 * AHEAD <= count ? sweeping->queue[number + 2 * AHEAD]
					   : HOLDER;
	if ((what & HOLDER) == 0)
		__builtin_prefetch(&graph->cells[what]);
	what =
	    number + AHEAD <= count ? sweeping->queue[number + AHEAD] : HOLDER;
	if ((what & HOLDER) != 0)
		return;
	cell = graph->cells[what];
	if (cell != MU_CELL_NONE && (cell & MU_CELL_ONE) == 0)
		__builtin_prefetch(&graph->targets[cell - 1]);
}

static void
take_edges(struct sweeping *sweeping, uint32_t number)
{
	const struct mu_holders *holders = sweeping->holders;
	uint32_t what = sweeping->queue[number], at, target;

	if ((what & HOLDER) != 0) {
		what &= ~HOLDER;
		for (at = holders->first[what]; at < holders->first[what + 1];
		     at++)
			wait_for(sweeping, number, holders->targets[at]);
		return;
	}
	at = sweeping->graph->cells[what];
	while (mu_edges_next(sweeping->graph, &at, &target))
		wait_for(sweeping, number, target);
}

/* Follow HOLDERS from index FIRST to END - 1. */
static void
search(struct sweeping *sweeping, uint32_t first, uint32_t end)
{
	struct mu_dominators *out = sweeping->out;

	for (; first < end; first++) {
		enter(sweeping, HOLDER | first, MU_DOMINATORS_TOP);
		out->numbers[first] = out->count;
	}
	for (;;) {
		if (sweeping->head == out->count)
			take_waiting(sweeping);
		if (sweeping->head == out->count ||
		    mu_deadline_passed(sweeping->deadline, 8))
			return;
		prefetch(sweeping, ++sweeping->head);
		take_edges(sweeping, sweeping->head);
	}
}

static void
search_all(struct sweeping *sweeping)
{
	uint32_t count = sweeping->holders->count;
	uint32_t certain = sweeping->holders->certain;

	if (certain > count)
		certain = count;
	sweeping->out->count = sweeping->head = MU_DOMINATORS_TOP;
	sweeping->certain = UINT32_MAX;
	search(sweeping, 0, certain);
	sweeping->certain = sweeping->out->count;
	search(sweeping, certain, count);
	while (sweeping->opened <= sweeping->out->count)
		sweeping->firsts[++sweeping->opened] = sweeping->num_edges;
}

/* The nearest common ancestor. */
static inline uint32_t
common(struct sweeping *sweeping, uint32_t a, uint32_t b)
{
	const uint32_t *parents = sweeping->parents;

	while (a != b) {
		sweeping->steps++;
		if (a > b)
			a = parents[a];
		else
			b = parents[b];
	}
	return a;
}

/* Returns true if it has changed the parent of TO. */
static inline bool
apply(struct sweeping *sweeping, uint32_t from, uint32_t to)
{
	uint32_t before = sweeping->parents[to], after;

	if (before == MU_DOMINATORS_TOP)
		return false;
	after = common(sweeping, before, from);
	sweeping->parents[to] = after;
	return after != before;
}

static bool
ends(struct sweeping *sweeping, uint32_t edges)
{
	return mu_deadline_passed(sweeping->deadline, 2 + 2 * (size_t)edges) ||
	    sweeping->steps > sweeping->most_steps;
}

/* The ancestors at which edges after EDGE begin. */
static inline void
prefetch_parents(const struct sweeping *sweeping, const uint32_t *edge)
{
	const uint32_t *parents = sweeping->parents;

	__builtin_prefetch(&parents[edge[2 * AHEAD]]);
	__builtin_prefetch(&parents[parents[edge[AHEAD]]]);
}

/* Sweep upwards. Edges to nodes that are done are dropped. */
static bool
sweep_up(struct sweeping *sweeping)
{
	uint32_t *edges = sweeping->edges, *firsts = sweeping->firsts;
	uint32_t number, at, end, begin = firsts[MU_DOMINATORS_TOP + 1],
				  kept = 0;
	uint32_t count = sweeping->out->count, total = sweeping->num_edges;
	bool changed = false;

	for (number = MU_DOMINATORS_TOP + 1; number <= count; number++) {
		end = firsts[number + 1];
		firsts[number] = kept;
		changed |=
		    apply(sweeping, sweeping->first_parents[number], number);
		for (at = begin; at < end; at++) {
			if (at + 2 * AHEAD < total)
				prefetch_parents(sweeping, edges + at);
			changed |= apply(sweeping, number, edges[at]);
			if (sweeping->parents[edges[at]] != MU_DOMINATORS_TOP)
				edges[kept++] = edges[at];
		}
		if (ends(sweeping, end - begin))
			return true;
		begin = end;
	}
	firsts[count + 1] = sweeping->num_edges = kept;
	return changed;
}

static void
sweep_down(struct sweeping *sweeping)
{
	const uint32_t *edges = sweeping->edges, *firsts = sweeping->firsts;
	uint32_t number, at;

	for (number = sweeping->out->count; number > MU_DOMINATORS_TOP;
	     number--) {
		for (at = firsts[number + 1]; at-- > firsts[number];) {
			if (at >= AHEAD)
				__builtin_prefetch(
				    &sweeping->parents[edges[at - AHEAD]]);
			apply(sweeping, number, edges[at]);
		}
		apply(sweeping, sweeping->first_parents[number], number);
		if (ends(sweeping, firsts[number + 1] - firsts[number]))
			return;
	}
}

/* Returns true when a sweep has changed nothing. */
static bool
sweep(struct sweeping *sweeping)
{
	unsigned sweeps;

	sweeping->most_steps =
	    STEPS_MAX * ((size_t)sweeping->num_edges + sweeping->out->count);
	for (sweeps = 0; sweeps < SWEEPS; sweeps++) {
		if (!sweep_up(sweeping))
			return true;
		if (sweeping->deadline->passed ||
		    sweeping->steps > sweeping->most_steps)
			return false;
		sweep_down(sweeping);
	}
	return false;
}

/* There are at most so many edges. */
static size_t
most_edges(const struct mu_graph *graph, const struct mu_holders *holders)
{
	return graph->taken + graph->num_nodes + holders->first[holders->count];
}

enum mu_status
mu_dominators_sweep(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline, bool *gave_up)
{
	struct sweeping sweeping = {
		.out = dominators,
		.graph = graph,
		.holders = holders,
		.deadline = deadline,
		.parents = dominators->parents,
		.queue = (uint32_t *)dominators->retained,
		.first_parents = (uint32_t *)dominators->retained +
		    mu_dominators_size(dominators),
		.firsts = dominators->blocks,
	};
	size_t most = most_edges(graph, holders);

	*gave_up = false;
	sweeping.edges = most > UINT32_MAX
	    ? NULL
	    : mu_arena_alloc_table(
		  graph->arena, most + 1, sizeof(*sweeping.edges));
	*gave_up = sweeping.edges == NULL;
	if (*gave_up)
		return MU_OK;
	search_all(&sweeping);
	mu_arena_trim(graph->arena, sweeping.edges,
	    (size_t)sweeping.num_edges + 1, sizeof(*sweeping.edges));
	*gave_up = !deadline->passed && !sweep(&sweeping) && !deadline->passed;
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}

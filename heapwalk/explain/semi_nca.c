/*
 * Dominators by Semi-NCA (Georgiadis 2005): a search by depth numbers the
 * nodes; then edges that are not in its tree are followed backwards, with path
 * compression. Nearly linear time for any graph.
 */
#include "heapwalk/explain/dominators.h"
#include "heapwalk/explain/edges.h"

#define BATCH 64

/*
 * Arrays are by number. Those of the search by depth are used again for the way
 * back: a link takes the memory of PENDING and so on.
 */
struct finding {
	struct mu_dominators *out;
	const struct mu_graph *graph;
	const struct mu_holders *holders;
	struct mu_deadline *deadline;
	uint32_t *parents; /* in the tree of the search; at last dominators */

	/* The path to the node that is visited, and where each continues. */
	uint32_t *path, *cursors;
	size_t depth;
	uint32_t certain; /* highest number that a certain holder leads to */

	/* The way back. */
	uint32_t *ancestors, *least;
	uint32_t *firsts; /* of SOURCES, then the semidominator */
	uint32_t *sources;
};

static inline uint32_t *
number_of(const struct finding *finding, uint32_t node)
{
	return &finding->out->numbers[finding->holders->count + node];
}

static inline void
enter(struct finding *finding, uint32_t node, uint32_t parent)
{
	uint32_t number = ++finding->out->count;

	*number_of(finding, node) = number;
	finding->parents[number] = parent;
	finding->path[finding->depth] = node;
	finding->cursors[finding->depth++] = finding->graph->cells[node];
}

/* All that NODE, which PARENT leads to, leads to and is new. */
static void
search_below(struct finding *finding, uint32_t node, uint32_t parent)
{
	uint32_t *cursor, target;

	enter(finding, node, parent);
	while (finding->depth > 0) {
		cursor = &finding->cursors[finding->depth - 1];
		if (mu_deadline_passed(finding->deadline, 8))
			return;
		if (!mu_edges_next(finding->graph, cursor, &target)) {
			finding->depth--;
		} else if (*number_of(finding, target) == 0) {
			node = finding->path[finding->depth - 1];
			enter(finding, target, *number_of(finding, node));
		}
	}
}

static void
search(struct finding *finding)
{
	const struct mu_holders *holders = finding->holders;
	uint32_t holder, at, number;

	finding->out->count = MU_DOMINATORS_TOP;
	for (holder = 0; holder < holders->count; holder++) {
		if (holder <= holders->certain)
			finding->certain = finding->out->count;
		number = ++finding->out->count;
		finding->out->numbers[holder] = number;
		finding->parents[number] = MU_DOMINATORS_TOP;
		for (at = holders->first[holder];
		     at < holders->first[holder + 1]; at++) {
			if (*number_of(finding, holders->targets[at]) == 0)
				search_below(
				    finding, holders->targets[at], number);
		}
	}
	if (holders->certain >= holders->count)
		finding->certain = finding->out->count;
}

/*
 * Of an edge between numbers: true if it is not of the tree, nor from what only
 * doubtful holders lead to into what others do.
 */
static inline bool
is_source(const struct finding *finding, uint32_t from, uint32_t to)
{
	return finding->parents[to] != from &&
	    (from <= finding->certain || to > finding->certain);
}

static inline void
count_source(struct finding *finding, uint32_t from, uint32_t to)
{
	if (is_source(finding, from, to))
		finding->firsts[to]++;
}

static inline void
store_source(struct finding *finding, uint32_t from, uint32_t to)
{
	if (is_source(finding, from, to))
		finding->sources[--finding->firsts[to]] = from;
}

typedef void visit_edge(struct finding *finding, uint32_t from, uint32_t to);

/* Edges that wait for the cache: 0.1 us each where one is taken at a time. */
struct batch {
	size_t count;
	uint32_t from[BATCH], to[BATCH];
};

static inline __attribute__((always_inline)) void
flush(struct finding *finding, struct batch *batch, visit_edge *visit)
{
	size_t i;

	for (i = 0; i < batch->count; i++) {
		batch->to[i] = *number_of(finding, batch->to[i]);
		__builtin_prefetch(&finding->parents[batch->to[i]]);
		__builtin_prefetch(&finding->firsts[batch->to[i]]);
	}
	for (i = 0; i < batch->count; i++)
		visit(finding, batch->from[i], batch->to[i]);
	batch->count = 0;
}

static inline __attribute__((always_inline)) void
take(struct finding *finding, struct batch *batch, visit_edge *visit,
    uint32_t from, uint32_t target)
{
	if (batch->count == BATCH)
		flush(finding, batch, visit);
	__builtin_prefetch(number_of(finding, target));
	batch->from[batch->count] = from;
	batch->to[batch->count++] = target;
}

static inline __attribute__((always_inline)) void
each_edge(struct finding *finding, visit_edge *visit)
{
	const struct mu_holders *holders = finding->holders;
	const struct mu_graph *graph = finding->graph;
	struct batch batch = { .count = 0 };
	uint32_t i, at, target, from;

	for (i = 0; i < holders->count; i++)
		for (at = holders->first[i]; at < holders->first[i + 1]; at++)
			take(finding, &batch, visit, finding->out->numbers[i],
			    holders->targets[at]);
	for (i = 0; i < graph->num_nodes; i++) {
		from = *number_of(finding, i);
		at = from != 0 ? graph->cells[i] : 0;
		if (mu_deadline_passed(finding->deadline, 8))
			return;
		while (mu_edges_next(graph, &at, &target))
			take(finding, &batch, visit, from, target);
	}
	flush(finding, &batch, visit);
}

/* The edges that are not of the tree, backwards. */
static bool
turn(struct finding *finding)
{
	uint32_t number, count = finding->out->count, sum = 0;

	each_edge(finding, count_source);
	for (number = MU_DOMINATORS_TOP; number <= count; number++) {
		sum += finding->firsts[number];
		finding->firsts[number] = sum;
	}
	finding->firsts[count + 1] = sum;
	finding->sources = mu_arena_alloc(
	    finding->graph->arena, sum + (sum == 0), sizeof(*finding->sources));
	if (finding->sources == NULL)
		return false;
	each_edge(finding, store_source);
	return true;
}

/*
 * The least semidominator on the path from NUMBER up to what is not linked yet,
 * which is below LINKED. The path is made short: links are turned around on the
 * way up, so that it needs no memory.
 */
static uint32_t
least_above(struct finding *finding, uint32_t number, uint32_t linked)
{
	uint32_t *ancestors = finding->ancestors, *least = finding->least;
	uint32_t below = 0, next, top, found;

	while (ancestors[number] >= linked) {
		next = ancestors[number];
		ancestors[number] = below;
		below = number;
		number = next;
	}
	top = ancestors[number];
	found = least[number];
	while (below != 0) {
		next = ancestors[below];
		if (least[below] > found)
			least[below] = found;
		found = least[below];
		ancestors[below] = top;
		below = next;
	}
	return found;
}

/* By falling numbers; NUMBER itself is linked at the end. */
static void
find_semidominator(struct finding *finding, uint32_t number, uint32_t end)
{
	uint32_t semi = finding->parents[number], from, at;

	for (at = finding->firsts[number]; at < end; at++) {
		from = finding->sources[at];
		if (from > number)
			from = least_above(finding, from, number + 1);
		if (from < semi)
			semi = from;
	}
	finding->firsts[number] = finding->least[number] = semi;
	finding->ancestors[number] = finding->parents[number];
}

static void
find_dominators(struct finding *finding)
{
	uint32_t number, count = finding->out->count, at, begin;
	uint32_t end = finding->firsts[count + 1];

	for (number = count; number > MU_DOMINATORS_TOP; number--) {
		begin = finding->firsts[number];
		if (mu_deadline_passed(finding->deadline, 8 + end - begin))
			return;
		find_semidominator(finding, number, end);
		end = begin;
	}
	for (number = MU_DOMINATORS_TOP + 1; number <= count; number++) {
		at = finding->parents[number];
		while (at > finding->firsts[number])
			at = finding->parents[at];
		finding->parents[number] = at;
	}
}

enum mu_status
mu_dominators_semi_nca(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline)
{
	size_t all = mu_dominators_size(dominators);
	uint32_t *pairs = (uint32_t *)dominators->retained;
	struct finding finding = {
		.out = dominators,
		.graph = graph,
		.holders = holders,
		.deadline = deadline,
		.parents = dominators->parents,
		.path = pairs,
		.ancestors = pairs,
		.cursors = pairs + all,
		.least = pairs + all,
		.firsts = dominators->blocks,
	};

	search(&finding);
	if (!deadline->passed && !turn(&finding))
		return MU_ERR_NO_MEMORY;
	if (!deadline->passed)
		find_dominators(&finding);
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}

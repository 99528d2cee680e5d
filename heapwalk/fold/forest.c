/*
 * Edges are followed down from nodes that nothing leads to, the sources. A list
 * in random order waits for main memory at each step, so LANES places are
 * followed at once, and some begin at arbitrary nodes: where another one comes
 * to such a start, that is noted. A start that no source leads to is on a ring,
 * or below one.
 *
 * A visited node's cell becomes a label: the number of its source, or from
 * num_sources on that of a start. Labels are replaced by trees at last.
 */
#include "heapwalk/fold/forest.h"

#include "mu/bits.h"

#define VISITED MU_EDGES_FREE_BIT /* in a cell: it is a label */
#define MAX_NODES 0x20000000u     /* labels are less than VISITED */
#define LANES 32
#define STRIDE 1040   /* one node in so many is a start; see visit_all() */
#define START_NODES 4 /* visited for each start, on the average */
#define MIN_STARTS 64
#define MIN_PENDING 256
#define PENDING_NODES 64 /* lanes take turns with more than one in so many */

/* Values of start.tree; others are 1 + a tree. */
#define UNKNOWN 0u
#define ON_WALK UINT32_MAX

struct start {
	uint32_t node, tree;
	uint32_t above; /* 1 + the label that leads here; 0: not known yet */
	uint32_t least; /* node on the way from that label's first one */
};

/* A way down from the first node of LABEL. */
struct lane {
	uint32_t at; /* a node, or the index of an edge to one, in targets */
	uint32_t label, least;
	bool edge;
};

struct forest {
	struct mu_lost *lost;
	const struct mu_ways *ways;
	struct mu_arena *arena, *near; /* room is looked for in NEAR first */
	struct mu_deadline *deadline;
	uint32_t *cells;

	/* Edges that are not followed yet, and lanes in between. */
	struct lane *pending;
	size_t num_pending, max_pending, turn;

	struct start *starts;
	size_t num_starts, max_starts;

	uint32_t next_stride, next_source, sources; /* to begin at */
	uint32_t num_rest, next_rest; /* nodes; word of their bits */
	uint32_t visited;
	size_t num_running;
	bool resting; /* only the rest is left */
	bool failed;  /* memory is exhausted */
};

/* True if there is room for one more of ITEMS. */
#define has_room(forest, items, first)                                         \
	(mu_arena_room((forest)->near, (forest)->items, (forest)->num_##items, \
	     (forest)->max_##items, first) ||                                  \
	    mu_arena_room((forest)->arena, (forest)->items,                    \
		(forest)->num_##items, (forest)->max_##items, first))

bool
mu_forest_can_be(const struct mu_ways *ways, const struct mu_lost *lost)
{
	return ways->num_heads == ways->num_sources && lost->cells != NULL &&
	    !lost->graph->reads && lost->num_nodes <= MAX_NODES;
}

/* Come to NODE next: its cell is called for. */
static inline void
go_to(const struct forest *forest, struct lane *lane, uint32_t node)
{
	lane->at = node;
	lane->edge = false;
	__builtin_prefetch(&forest->cells[node], 1);
}

/* Follow the edge at INDEX next, and what comes behind it later. */
static inline void
go_along(const struct forest *forest, struct lane *lane, uint32_t index)
{
	lane->at = index;
	lane->edge = true;
	__builtin_prefetch(&forest->lost->graph->targets[index]);
}

/* Returns false if memory is exhausted. */
static bool
put_off(struct forest *forest, const struct lane *lane)
{
	if (!has_room(forest, pending, MIN_PENDING)) {
		forest->failed = true;
		return false;
	}
	forest->pending[forest->num_pending++] = *lane;
	return true;
}

/* LANE leads to a node that was visited: some start. */
static void
meet(struct forest *forest, const struct lane *lane, uint32_t label)
{
	uint32_t i = label - forest->ways->num_sources;

	if (forest->starts == NULL || i >= forest->num_starts ||
	    forest->starts[i].node != lane->at)
		return;
	forest->starts[i].above = 1 + lane->label;
	forest->starts[i].least = lane->least;
}

/* Visit the node that LANE is at. Returns false if the way ends there. */
static inline bool
visit(struct forest *forest, struct lane *lane)
{
	uint32_t cell = forest->cells[lane->at];

	if ((cell & VISITED) != 0) {
		meet(forest, lane, cell & ~VISITED);
		return false;
	}
	forest->cells[lane->at] = VISITED | lane->label;
	forest->visited++;
	if (lane->at < lane->least)
		lane->least = lane->at;
	if (cell == MU_CELL_NONE)
		return false;
	if ((cell & MU_CELL_ONE) != 0)
		go_to(forest, lane, cell & ~MU_CELL_ONE);
	else
		go_along(forest, lane, cell - 1);
	return true;
}

/* Returns false if the way ends. */
static inline bool
step(struct forest *forest, struct lane *lane)
{
	uint32_t target;

	if (!lane->edge)
		return visit(forest, lane);
	target = forest->lost->graph->targets[lane->at];
	if ((target & MU_TARGET_LAST) == 0) {
		lane->at++;
		if (!put_off(forest, lane))
			return false;
	}
	go_to(forest, lane, target & ~MU_TARGET_LAST);
	return true;
}

/* Begin at NODE, which is not visited, whatever leads there. */
static bool
begin_at(struct forest *forest, struct lane *lane, uint32_t node)
{
	if (!has_room(forest, starts, MIN_STARTS)) {
		forest->failed = true;
		return false;
	}
	*lane = (struct lane) { .at = node,
		.label =
		    forest->ways->num_sources + (uint32_t)forest->num_starts,
		.least = node };
	forest->starts[forest->num_starts++] = (struct start) { .node = node };
	return visit(forest, lane);
}

/* True if NODE is no source, and not visited yet. */
static bool
is_new(const struct forest *forest, uint32_t node)
{
	return (forest->cells[node] & VISITED) == 0 &&
	    mu_bit(forest->ways->some, node);
}

static bool
begin_anywhere(struct forest *forest, struct lane *lane)
{
	uint32_t node;

	while (forest->next_stride < forest->lost->num_nodes) {
		node = forest->next_stride;
		forest->next_stride += STRIDE;
		if (is_new(forest, node) && begin_at(forest, lane, node))
			return true;
	}
	return false;
}

/* The next source from NODE on, or the number of all nodes. */
static uint32_t
find_source(const struct forest *forest, uint32_t node)
{
	uint32_t count = forest->lost->num_nodes, i = node / 64;
	uint64_t bits;

	if (node >= count)
		return count;
	bits = ~forest->ways->some[i] & (~0ull << (node % 64));
	while (bits == 0 && ++i <= (count - 1) / 64)
		bits = ~forest->ways->some[i];
	node = bits == 0 ? count : i * 64 + (uint32_t)__builtin_ctzll(bits);
	return node < count ? node : count;
}

static bool
begin_at_source(struct forest *forest, struct lane *lane)
{
	uint32_t node = find_source(forest, forest->next_source);

	forest->next_source = node;
	if (node == forest->lost->num_nodes)
		return false;
	forest->next_source++;
	*lane = (struct lane) { .label = forest->sources++, .least = node };
	go_to(forest, lane, node);
	return true;
}

/* Note which nodes are left, in the bits of those with several ways: none. */
static void
note_rest(struct forest *forest)
{
	uint32_t node, count = forest->lost->num_nodes;

	forest->resting = true;
	if (forest->visited == count)
		return;
	for (node = 0; node < count; node++) {
		if (!is_new(forest, node))
			continue;
		mu_bit_set(forest->ways->several, node);
		forest->num_rest++;
	}
}

/*
 * What is left when no lane is running is on rings and below. Starts are in
 * different words of bits, as one lane may be about to come where another one
 * begins; while it turns out that they are close, there is one lane only.
 */
static bool
begin_at_rest(struct forest *forest, struct lane *lane)
{
	uint32_t words = forest->lost->num_nodes / 64 + 1, node;
	uint64_t *bits;

	if (!forest->resting && forest->num_running == 0)
		note_rest(forest);
	while (forest->num_rest > 0 &&
	    (forest->num_running == 0 ||
		forest->num_starts < forest->visited / START_NODES)) {
		forest->next_rest = (forest->next_rest + 1) % words;
		bits = &forest->ways->several[forest->next_rest];
		if (*bits == 0)
			continue;
		node =
		    forest->next_rest * 64 + (uint32_t)__builtin_ctzll(*bits);
		*bits &= *bits - 1;
		forest->num_rest--;
		if (is_new(forest, node) && begin_at(forest, lane, node))
			return true;
	}
	return false;
}

/* Follow the next edge of those that were put off last. */
static void
follow_pending(struct forest *forest, struct lane *lane)
{
	struct lane *last = &forest->pending[forest->num_pending - 1];
	uint32_t target = last->at | MU_TARGET_LAST;

	if (last->edge)
		target = forest->lost->graph->targets[last->at++];
	*lane = *last;
	if ((target & MU_TARGET_LAST) != 0)
		forest->num_pending--;
	go_to(forest, lane, target & ~MU_TARGET_LAST);
}

/*
 * Each element of a list that holds something puts off an edge. With a list in
 * each lane none of these would be followed until the lists end.
 */
static void
take_turns(struct forest *forest, struct lane *lanes)
{
	size_t most = MIN_PENDING + forest->lost->num_nodes / PENDING_NODES, i;
	struct lane *pending, lane;

	for (i = 0; i < forest->num_running && forest->num_pending > most;
	     i++) {
		forest->turn = (forest->turn + 1) % forest->num_pending;
		pending = &forest->pending[forest->turn];
		lane = lanes[i];
		lanes[i] = *pending;
		*pending = lane;
	}
}

static bool
begin(struct forest *forest, struct lane *lane)
{
	if (forest->failed)
		return false;
	if (forest->num_pending == 0)
		return begin_anywhere(forest, lane) ||
		    begin_at_source(forest, lane) ||
		    begin_at_rest(forest, lane);
	follow_pending(forest, lane);
	return true;
}

/*
 * In a list in order, lanes that are a multiple of a page apart would have to
 * share few lines of the cache.
 */
static void
visit_all(struct forest *forest)
{
	struct lane lanes[LANES];
	size_t i;

	while (!mu_deadline_passed(forest->deadline, 8 * LANES)) {
		while (forest->num_running < LANES &&
		    begin(forest, &lanes[forest->num_running]))
			forest->num_running++;
		if (forest->num_running == 0)
			break;
		for (i = 0; i < forest->num_running; i++)
			if (!step(forest, &lanes[i]))
				lanes[i--] = lanes[--forest->num_running];
		take_turns(forest, lanes);
	}
}

/* The tree of a ring, on which START is. */
static uint32_t
add_ring(struct forest *forest, struct mu_trees *trees, uint32_t start)
{
	const struct start *starts = forest->starts;
	uint32_t i = start, least = UINT32_MAX;

	do {
		if (starts[i].least < least)
			least = starts[i].least;
		i = starts[i].above - 1 - forest->ways->num_sources;
	} while (i != start);
	trees->heads[trees->num_trees] = MU_HEAD_LED | least;
	return trees->num_trees++;
}

/* Find the tree of START, and of those above it. */
static void
find_tree(struct forest *forest, struct mu_trees *trees, uint32_t start)
{
	uint32_t sources = forest->ways->num_sources, label = sources + start;
	struct start *starts = forest->starts;
	uint32_t tree, i;

	for (; label >= sources; label = starts[i].above - 1) {
		i = label - sources;
		if (starts[i].tree != UNKNOWN)
			break;
		starts[i].tree = ON_WALK;
	}
	if (label < sources)
		tree = label;
	else if (starts[label - sources].tree == ON_WALK)
		tree = add_ring(forest, trees, label - sources);
	else
		tree = starts[label - sources].tree - 1;
	for (i = start; starts[i].tree == ON_WALK;
	     i = starts[i].above - 1 - sources) {
		starts[i].tree = 1 + tree;
		if (starts[i].above - 1 < sources)
			break;
	}
}

/* Replace all labels by trees. */
static enum mu_status
number_trees(struct forest *forest, struct mu_trees *trees)
{
	uint32_t sources = forest->ways->num_sources, node, tree, label;
	uint32_t *of = forest->cells;
	size_t i;

	trees->heads = mu_arena_alloc_table(
	    forest->arena, sources + forest->num_starts, sizeof(*trees->heads));
	if (trees->heads == NULL)
		return MU_ERR_NO_MEMORY;
	for (node = 0; trees->num_trees < sources; node++) {
		node = find_source(forest, node);
		trees->heads[trees->num_trees++] = node;
	}
	for (i = 0; i < forest->num_starts; i++)
		find_tree(forest, trees, (uint32_t)i);
	for (node = 0; node < forest->lost->num_nodes; node++) {
		label = of[node] & ~VISITED;
		if (label >= sources && forest->starts != NULL)
			label = forest->starts[label - sources].tree - 1;
		of[node] = label;
	}
	for (tree = 0; tree < trees->num_trees; tree++)
		of[mu_tree_head(trees, tree)] |= MU_TREE_HEAD;
	trees->of = of;
	return MU_OK;
}

enum mu_status
mu_forest_find(struct mu_trees *trees, const struct mu_ways *ways,
    struct mu_lost *lost, struct mu_deadline *deadline)
{
	struct forest forest = { .lost = lost,
		.ways = ways,
		.arena = lost->graph->arena,
		.near = lost->marks != NULL ? lost->marks : lost->graph->arena,
		.deadline = deadline,
		.cells = lost->cells };

	lost->cells = NULL;
	visit_all(&forest);
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	return forest.failed ? MU_ERR_NO_MEMORY : number_trees(&forest, trees);
}

/*
 * A node waits in a queue for its cell, then for its targets, while later ones
 * are prefetched. A chain cannot be prefetched: each cell says which one is
 * next.
 */
#include "heapwalk/mark/marker.h"

#include "heapwalk/mark/chains.h"
#include "heapwalk/mark/marking.h"
#include "heapwalk/subject/workers.h"

#define AHEAD MU_MARKER_AHEAD
#define CELLS_A_LINE 16
#define COUNTED 4096 /* steps charged to the deadline at once */
#define UNIT 8192    /* steps between two looks at what else there is */
#define DENSE 8      /* of 64 nodes: they are not queued one by one */

static inline void
reach(struct mu_marker *marker, uint32_t target)
{
	struct mu_blocks *blocks = marker->graph->blocks;
	uint64_t fresh;

	/* If not, the next sweep will find it. */
	if (marker->found != NULL) {
		mu_marker_find(marker->found, target);
		return;
	}
	if (marker->stack == NULL) {
		mu_blocks_mark(blocks, target);
		return;
	}
	fresh = !mu_blocks_marked(blocks, target);
	mu_blocks_mark(blocks, target);
	if (marker->depth == marker->max_depth) {
		marker->full |= fresh != 0;
		return;
	}
	/* No branch: in a random graph a third of the targets is fresh. */
	blocks->followed[target / 64] |= fresh << (target % 64);
	marker->stack[marker->depth] = target;
	marker->depth += fresh;
}

/* The node that is being followed has a link. */
static void
note_link(struct mu_marker *marker, uint32_t node)
{
	struct mu_graph *graph = marker->graph;
	size_t i;

	if (marker->linker == node)
		return;
	marker->linker = node;
	i = __atomic_fetch_add(&graph->num_linkers, 1, __ATOMIC_RELAXED);
	if (i < graph->max_linkers)
		graph->linkers[i] = node;
}

/* Follow the targets of NODE, which are at INDEX. */
static inline void
follow_list(struct mu_marker *marker, uint32_t node, uint32_t index)
{
	const uint32_t *at = &marker->graph->targets[index], *first = at;

	for (;; at++) {
		if ((*at & MU_TARGET_LINK) != 0) {
			note_link(marker, node);
			at++;
		} else {
			reach(marker, *at & ~MU_TARGET_LAST);
		}
		if ((*at & MU_TARGET_LAST) != 0)
			break;
	}
	mu_deadline_passed(&marker->deadline, 8 + (size_t)(at - first));
}

/*
 * Follow TARGET and its single successors, while no other work is queued. Bits
 * of nodes that were followed are stored by the word: a list in order would
 * wait at each node for the word that it has just written.
 */
static inline void
reach_chain(struct mu_marker *marker, uint32_t target)
{
	const struct mu_blocks *blocks = marker->graph->blocks;
	const uint32_t *cells = marker->graph->cells;
	size_t steps = 0, far = 0;
	uint32_t cell, word = 0;
	uint64_t bits = 0;

	while (!mu_blocks_marked(blocks, target)) {
		if (mu_chains_sample(marker->chains, target)) {
			target = mu_chains_follow(marker->chains, target);
			if (mu_blocks_marked(blocks, target))
				break;
		}
		mu_blocks_mark(blocks, target);
		if (target / 64 != word) {
			blocks->followed[word] |= bits;
			word = target / 64;
			bits = 0;
		}
		bits |= 1ull << (target % 64);
		cell = cells[target];
		if ((cell & MU_CELL_ONE) == 0) {
			marker->stack[marker->depth++] = target;
			break;
		}
		far += ((cell ^ target) & ~MU_CELL_ONE) >= CELLS_A_LINE;
		target = cell & ~MU_CELL_ONE;
		if (++steps < COUNTED)
			continue;
		mu_chains_count(marker->chains, steps, far);
		steps = far = 0;
		if (mu_deadline_passed(&marker->deadline, 8 * COUNTED))
			break;
	}
	blocks->followed[word] |= bits;
	mu_chains_count(marker->chains, steps, far);
	marker->deadline.passed |= marker->chains->late;
}

static inline bool
is_idle(const struct mu_marker *marker)
{
	return marker->stack != NULL && marker->depth == 0 &&
	    marker->first_node == marker->last_node &&
	    marker->first_list == marker->last_list;
}

/* Follow the oldest node, whose cell has arrived. */
static inline void
follow_cell(struct mu_marker *marker, uint32_t node)
{
	uint32_t cell = mu_graph_cell(marker->graph, node);

	if (cell == MU_CELL_NONE)
		return;
	if ((cell & MU_CELL_ONE) != 0) {
		if (is_idle(marker))
			reach_chain(marker, cell & ~MU_CELL_ONE);
		else
			reach(marker, cell & ~MU_CELL_ONE);
		mu_deadline_passed(&marker->deadline, 8);
		return;
	}
	if (cell == MU_CELL_READ) {
		mu_graph_read(marker->graph, node, &marker->reader);
		mu_deadline_passed(&marker->deadline, 256);
		return;
	}
	__builtin_prefetch(&marker->graph->targets[cell - 1]);
	marker->sources[marker->last_list % AHEAD] = node;
	marker->lists[marker->last_list++ % AHEAD] = cell - 1;
}

static inline void
follow_oldest_list(struct mu_marker *marker)
{
	unsigned i = marker->first_list++ % AHEAD;

	follow_list(marker, marker->sources[i], marker->lists[i]);
}

static inline void
follow_oldest_node(struct mu_marker *marker)
{
	if (marker->last_list - marker->first_list == AHEAD)
		follow_oldest_list(marker);
	follow_cell(marker, marker->nodes[marker->first_node++ % AHEAD]);
}

/* Follow NODE, which is marked; it may be queued. */
static inline void
follow(struct mu_marker *marker, uint32_t node)
{
	if (marker->last_node - marker->first_node == AHEAD)
		follow_oldest_node(marker);
	if (marker->graph->cells != NULL)
		__builtin_prefetch(&marker->graph->cells[node]);
	marker->nodes[marker->last_node++ % AHEAD] = node;
}

/*
 * For sweeps, whose tables do not fit the caches: a CPU cannot predict which
 * nodes have one edge, and waits at each for what it has called for.
 */
static void
follow_dense(struct mu_marker *marker, uint32_t first, uint64_t nodes)
{
	const uint32_t *cells = marker->graph->cells;
	uint32_t ones[64], lists[64], cell;
	size_t num_ones = 0, num_lists = 0, i;

	for (; nodes != 0; nodes &= nodes - 1) {
		lists[num_lists] = first + (uint32_t)__builtin_ctzll(nodes);
		cell = cells[lists[num_lists]];
		ones[num_ones] = cell & ~MU_CELL_ONE;
		num_ones += (cell & MU_CELL_ONE) != 0;
		num_lists += cell - 1 < MU_CELL_READ;
	}
	for (i = 0; i < num_ones; i++)
		reach(marker, ones[i]);
	mu_deadline_passed(&marker->deadline, 8 * num_ones);
	for (i = 0; i < num_lists; i++) {
		cell = cells[lists[i]];
		if (cell == MU_CELL_READ)
			follow_cell(marker, lists[i]);
		else
			follow_list(marker, lists[i], cell - 1);
	}
}

void
mu_marker_follow_word(struct mu_marker *marker, uint32_t first, uint64_t nodes)
{
	bool dense =
	    marker->graph->cells != NULL && mu_popcount(nodes) >= DENSE;
	uint32_t node, cell;

	if (dense && marker->found != NULL) {
		follow_dense(marker, first, nodes);
		return;
	}
	for (; nodes != 0; nodes &= nodes - 1) {
		node = first + (uint32_t)__builtin_ctzll(nodes);
		cell = mu_graph_cell(marker->graph, node);
		if (!dense)
			follow(marker, node);
		else if (cell - 1 < MU_CELL_READ - 1)
			follow_list(marker, node, cell - 1);
		else if (cell != MU_CELL_NONE)
			follow_cell(marker, node);
	}
}

/* The stack is too full: a sweep will follow what is on it. */
static void
leave_stack(struct mu_marker *marker)
{
	uint32_t node;

	while (marker->depth > 0) {
		node = marker->stack[--marker->depth];
		mu_bit_clear(marker->graph->blocks->followed, node);
	}
}

void
mu_marker_drain(struct mu_marker *marker)
{
	const struct mu_workers *workers = marker->graph->blocks->workers;
	size_t steps = 0;

	while (!marker->deadline.passed) {
		if (++steps % UNIT == 0)
			mu_workers_between(workers);
		if (marker->full)
			leave_stack(marker);
		while (marker->depth > 0 &&
		    marker->last_node - marker->first_node < AHEAD)
			follow(marker, marker->stack[--marker->depth]);
		if (marker->last_node != marker->first_node)
			follow_oldest_node(marker);
		else if (marker->last_list != marker->first_list)
			follow_oldest_list(marker);
		else if (marker->reader.count > 0)
			mu_reader_flush(&marker->reader);
		else
			return;
	}
}

static void
reach_all(struct mu_reader *reader)
{
	struct mu_marker *marker = reader->ctx;
	size_t i;

	for (i = 0; i < reader->count; i++) {
		if (reader->targets[i] == MU_NO_NODE)
			continue;
		if (reader->links[i] != 0)
			note_link(marker, reader->nodes[i]);
		else
			reach(marker, reader->targets[i]);
	}
}

void
mu_marker_open(
    struct mu_marker *marker, struct mu_graph *graph, uint64_t deadline_ns)
{
	marker->graph = graph;
	marker->deadline = (struct mu_deadline) { .ns = deadline_ns };
	marker->stack = NULL;
	marker->chains = NULL;
	marker->found = NULL;
	marker->depth = marker->max_depth = 0;
	marker->full = false;
	marker->linker = MU_NO_NODE;
	marker->first_node = marker->last_node = 0;
	marker->first_list = marker->last_list = 0;
	mu_reader_open(&marker->reader, graph, reach_all, marker);
}

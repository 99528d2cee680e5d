/*
 * The unreachable part of the graph: nodes are renumbered by address, and edges
 * to reachable nodes are dropped.
 *
 * It replaces the whole graph: targets are changed in place.
 *
 * Most lost blocks of many programs are alone: no edge joins them to another
 * one. If these are many they are no nodes, and take bits only.
 */
#ifndef HEAPWALK_GRAPH_LOST_H
#define HEAPWALK_GRAPH_LOST_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/subject/deadline.h"
#include "mu/bits.h"

/* More nodes cannot be distinguished from flags in edges. */
#define MU_LOST_MAX_NODES 0x7ffffff0u

#define MU_LOST_GROUP 64 /* nodes of the graph that are one word of bits */

struct mu_lost {
	struct mu_graph *graph;
	uint32_t num_blocks, num_nodes; /* parts of large blocks come last */
	uint32_t *cells;  /* as in the graph, by new numbers; or NULL */
	uint64_t *bits;   /* which nodes of a group of the graph are lost */
	uint32_t *firsts; /* new number of the first of these */

	/*
	 * Set by the caller: no edges are needed once trees are known
	 * (heapwalk/fold/trees.h).
	 */
	bool trees_only;

	struct mu_arena *marks; /* for mu_lost_borrow(): on marks; or NULL */

	uint64_t *alone; /* bits as above: no nodes; NULL: there are none */
	uint32_t *alone_ranks; /* of 64 numbers: how many are alone before */
	uint32_t num_alone;    /* blocks */
};

/* The number of unmarked blocks, and their bytes. */
void mu_lost_count(
    const struct mu_blocks *blocks, size_t *count, size_t *bytes);

/*
 * Call when marking is complete. MU_ERR_NO_MEMORY (also if there are too many
 * nodes); MU_ERR_TIMEOUT. GRAPH cannot be used otherwise afterwards.
 */
enum mu_status mu_lost_open(
    struct mu_lost *lost, struct mu_graph *graph, struct mu_deadline *deadline);

/*
 * Let mu_lost_borrow() use the memory of the marks, which BITS and ALONE stand
 * for, until mu_lost_give_marks_back(): until then no block is marked. Without
 * memory for that it is not used.
 */
void mu_lost_lend_marks(struct mu_lost *lost);

/*
 * COUNT objects of SIZE bytes, zeroed, until mu_lost_give_marks_back(): as far
 * as they fit in what mu_lost_lend_marks() lends. NULL if memory is exhausted.
 */
void *mu_lost_borrow(const struct mu_lost *lost, size_t count, size_t size);

/* Blocks are marked again as they were, if their marks were lent. */
void mu_lost_give_marks_back(struct mu_lost *lost);

/* The words of bits that GRAPH needs. */
static inline size_t
mu_lost_groups(const struct mu_graph *graph)
{
	return ((size_t)graph->num_nodes + MU_LOST_GROUP - 1) / MU_LOST_GROUP;
}

/* True if NUMBER, that of a node in the graph, is one here. */
static inline bool
mu_is_lost(const struct mu_lost *lost, uint32_t number)
{
	return mu_bit(lost->bits, number);
}

/* The node that has NUMBER in the graph; so have blocks in their table. */
static inline uint32_t
mu_lost_node(const struct mu_lost *lost, uint32_t number)
{
	uint64_t bits = lost->bits[number / MU_LOST_GROUP];
	uint32_t first = lost->firsts[number / MU_LOST_GROUP];

	if (bits == ~0ull)
		return first + number % MU_LOST_GROUP;
	return first +
	    mu_popcount(bits & ((1ull << (number % MU_LOST_GROUP)) - 1));
}

/* The number of NODE in the graph. */
uint32_t mu_lost_number(const struct mu_lost *lost, uint32_t node);

/* True if the lost block with NUMBER is alone. */
static inline bool
mu_lost_alone(const struct mu_lost *lost, uint32_t number)
{
	return lost->alone != NULL && mu_bit(lost->alone, number);
}

/* How many blocks before the one with NUMBER are alone, if it is, too. */
uint32_t mu_lost_alone_rank(const struct mu_lost *lost, uint32_t number);

/* Visit the blocks that are alone, by address, until VISIT returns false. */
void mu_lost_each_alone(const struct mu_lost *lost,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx);

/*
 * The place of NODE among all lost blocks, by address: its number in the graph
 * or, if no block is alone, NODE itself. Places of blocks that are alone are
 * their numbers.
 */
uint32_t mu_lost_place(const struct mu_lost *lost, uint32_t node);

/* The node at PLACE; MU_NO_NODE if the block there is alone. */
uint32_t mu_lost_at(const struct mu_lost *lost, uint32_t place);

/* The block of NODE; false for a part. */
bool mu_lost_block(
    const struct mu_lost *lost, uint32_t node, struct mu_block *block);

/*
 * Call ADD with the usable bytes of each block, once. Several workers may call
 * this at the same time, with a shared NEXT that is initially 0.
 */
void mu_lost_sizes(const struct mu_lost *lost,
    void (*add)(void *ctx, uint32_t node, size_t size), void *ctx, size_t *next,
    struct mu_deadline *deadline);

/* The same format as mu_graph.cells. */
static inline uint32_t
mu_lost_cell(const struct mu_lost *lost, uint32_t node)
{
	return lost->cells != NULL ? lost->cells[node] : MU_CELL_READ;
}

/*
 * The remaining edges of one node: the target itself with MU_CELL_ONE; or 1 +
 * an index in graph->targets; or, if read from the image, 1 + an offset in the
 * node's bytes; 0: none. Bit 30 is never set.
 */
struct mu_edges {
	uint32_t at;
	bool read;
	const struct mu_lost *lost;
	struct mu_node_bytes bytes; /* of edges read from the image */
	uint32_t node;
	struct mu_deadline *deadline;
};

#define MU_EDGES_FREE_BIT 0x40000000u

/* The position of the first edge of NODE, for mu_edges_open(). */
static inline uint32_t
mu_edges_first(const struct mu_lost *lost, uint32_t node)
{
	uint32_t cell = mu_lost_cell(lost, node);

	return cell == MU_CELL_READ ? 1 : cell;
}

/* True if NODE is known to have no edges. */
static inline bool
mu_edges_none(const struct mu_lost *lost, uint32_t node)
{
	return mu_edges_first(lost, node) == MU_CELL_NONE;
}

/* mu_edges_open() and mu_edges_next() for edges that are not stored. */
void mu_edges_read(struct mu_edges *edges);
bool mu_edges_read_next(struct mu_edges *edges, uint32_t *target);

/*
 * Start at the edge AT of NODE: mu_edges_first(), or an earlier edges->at. The
 * work is charged to DEADLINE.
 */
static inline void
mu_edges_open(struct mu_edges *edges, const struct mu_lost *lost, uint32_t node,
    uint32_t at, struct mu_deadline *deadline)
{
	edges->at = at;
	edges->lost = lost;
	edges->read =
	    lost->graph->reads && mu_lost_cell(lost, node) == MU_CELL_READ;
	edges->deadline = deadline;
	mu_deadline_passed(deadline, 8);
	if (edges->read) {
		edges->node = node;
		mu_edges_read(edges);
	}
}

/* Get the next edge's target; false after the last. */
static inline bool
mu_edges_next(struct mu_edges *edges, uint32_t *target)
{
	uint32_t at = edges->at, cell;

	if (edges->read)
		return mu_edges_read_next(edges, target);
	if (at == 0)
		return false;
	edges->at = 0;
	if ((at & MU_CELL_ONE) != 0) {
		*target = at & ~MU_CELL_ONE;
		return true;
	}
	cell = edges->lost->graph->targets[at - 1];
	if ((cell & MU_TARGET_LAST) == 0)
		edges->at = at + 1;
	*target = cell & ~MU_TARGET_LAST;
	if (at % 4096 == 0)
		mu_deadline_passed(edges->deadline, 4096);
	return true;
}

/*
 * The edges of NODE if they are stored: targets, the last of which has
 * MU_TARGET_LAST; NULL if there are none. ONE has room for a single one.
 */
static inline const uint32_t *
mu_edges_stored(const struct mu_lost *lost, uint32_t node, uint32_t *one)
{
	uint32_t cell = lost->cells[node];

	if (cell == MU_CELL_NONE)
		return NULL;
	if ((cell & MU_CELL_ONE) == 0)
		return &lost->graph->targets[cell - 1];
	*one = MU_TARGET_LAST | cell; /* both flags are the same bit */
	return one;
}

#endif

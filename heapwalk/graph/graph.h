/*
 * The live blocks as a graph: nodes are numbers, edges are made once.
 *
 * A node is a block, by its number (heapwalk/heaps/blocks.h), or a part of a
 * block that is large: these have numbers behind those of all blocks, and an
 * edge leads to each from the block that it is a part of. An edge a -> b is a
 * word of a that refers to b (heapwalk/graph/references.h); edges of a node to
 * itself are left out.
 *
 * The image of the subject is read once, in the order of addresses, by all
 * workers. A node costs a cell of four bytes, an edge none if it is the only
 * one of its node, else four, too. What there is no memory for is read from
 * the image whenever it is asked for: slow, and the same.
 */
#ifndef HEAPWALK_GRAPH_GRAPH_H
#define HEAPWALK_GRAPH_GRAPH_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/roots/roots.h"

/* In mu_graph.cells; anything else is 1 + a place in mu_graph.targets. */
#define MU_CELL_NONE 0u
#define MU_CELL_ONE 0x80000000u  /* and the target: it is the only edge */
#define MU_CELL_READ 0x7fffffffu /* the edges are not stored */

/* In mu_graph.targets, beside the target. */
#define MU_TARGET_LAST 0x80000000u /* of this node */
/*
 * No target, but what is known of the next one: the word may be an old link of
 * a free list (mu_heap_ops.link()), and MU_LINK_STALE, is one unless
 * blocks->last_words.
 */
#define MU_TARGET_LINK 0x40000000u
#define MU_LINK_STALE 1u

#define MU_NO_NODE UINT32_MAX

/* What words are read from. */
enum mu_words_of {
	MU_WORDS_BLOCK, /* may be old links of free lists */
	MU_WORDS_ROOT,
	MU_WORDS_CODE,       /* a root that is searched at every byte */
	MU_WORDS_BLOCK_CODE, /* a block that is */
};

#define MU_GRAPH_MAX_NODES 0x40000000u    /* that edges are stored of */
#define MU_GRAPH_MAX_TARGETS 0x3ffffff0u  /* places */
#define MU_GRAPH_LARGE ((size_t)64 << 10) /* bytes; what has more has parts */

struct mu_reader; /* heapwalk/graph/reader.h */

/* Of a large block, read as one. */
struct mu_part {
	struct mu_range range;
	uint32_t block; /* number */
};

struct mu_graph {
	struct mu_blocks *blocks;
	struct mu_memory
	    *memory; /* what was written of large ranges; or NULL */
	struct mu_arena *arena;

	/* heapwalk/graph/words.h: to choose it takes 100 us on a virtual
	 * machine. */
	uint64_t (*filter)(
	    const char *view, size_t count, uintptr_t lowest, uintptr_t width);

	struct mu_arena_piece *pieces; /* that ARENA had before the edges */

	uint32_t num_blocks, num_nodes;
	size_t *tickets;       /* of collecting: up to the end of each span */
	struct mu_part *parts; /* of node num_blocks + i; by address */
	size_t num_parts;

	uint32_t *cells;   /* one a node; NULL: no edges are stored */
	uint32_t *targets; /* NULL: only edges that are alone are */
	size_t capacity, taken;
	bool reads;      /* some node has MU_CELL_READ */
	bool unreadable; /* blocks are gone; never with READS */

	/*
	 * Nodes with links among their edges, noted when they are followed, in
	 * any order. Room for all of them would be as much as the cells take.
	 */
	uint32_t *linkers;
	size_t num_linkers, max_linkers; /* more than MAX: some are not there */
	bool linkers_lost;               /* some were not there, earlier */
};

/*
 * Number the blocks, and find all edges. What ROOTS (may be NULL) refer to is
 * marked. MEMORY may be NULL: all of a large range was written.
 *
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC) came first.
 */
enum mu_status mu_graph_make(struct mu_graph *graph, struct mu_blocks *blocks,
    const struct mu_roots *roots, struct mu_memory *memory,
    struct mu_arena *arena, uint64_t deadline_ns);

/* Give back the memory of all edges: they are read from now on. */
void mu_graph_forget_edges(struct mu_graph *graph);

/* What NODE's words lie in. */
struct mu_node_bytes {
	struct mu_range range;
	const char *view;
	enum mu_words_of of;
};

/* How the words of the block with RANGE are read. */
enum mu_words_of mu_graph_words_of(
    const struct mu_blocks *blocks, struct mu_range range);

/* False: NODE is a large block, whose words are those of its parts. */
bool mu_graph_bytes(
    const struct mu_graph *graph, uint32_t node, struct mu_node_bytes *bytes);

/* All edges of NODE, from the image: they wait in READER. */
void mu_graph_read(
    const struct mu_graph *graph, uint32_t node, struct mu_reader *reader);

/* The parts of BLOCK: how many, the first as an index. */
size_t mu_graph_parts(
    const struct mu_graph *graph, uint32_t block, size_t *first);

static inline uint32_t
mu_graph_cell(const struct mu_graph *graph, uint32_t node)
{
	return graph->cells != NULL ? graph->cells[node] : MU_CELL_READ;
}

#endif

/*
 * The live blocks as a graph: nodes are numbers, and edges are found once.
 *
 * A node is a block, by its number (heapwalk/heaps/blocks.h), or a part of a
 * large block; parts have numbers after those of all blocks, and a large block
 * has an edge to each of its parts. An edge a -> b is a word of a that refers
 * to b (heapwalk/graph/references.h); edges of a node to itself are left out.
 *
 * All workers read the words of blocks and roots once, in address order. A node
 * takes a cell of four bytes; its edge takes no more if it is the only one,
 * otherwise four bytes each. If memory is short, edges are not stored but read
 * from the image when they are needed, which is slow and gives the same result.
 */
#ifndef HEAPWALK_GRAPH_GRAPH_H
#define HEAPWALK_GRAPH_GRAPH_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/roots/roots.h"

/* Values in mu_graph.cells; others are 1 + an index in mu_graph.targets. */
#define MU_CELL_NONE 0u
#define MU_CELL_ONE 0x80000000u  /* with the target, if it is the only edge */
#define MU_CELL_READ 0x7fffffffu /* the edges are not stored */

/* Flags in mu_graph.targets, in addition to the target. */
#define MU_TARGET_LAST 0x80000000u /* last edge of this node */
/*
 * Not a target, but a note about the next one: the word may be an old link of a
 * free list (mu_heap_ops.link()); with MU_LINK_STALE it is one, unless
 * blocks->last_words.
 */
#define MU_TARGET_LINK 0x40000000u
#define MU_LINK_STALE 1u

#define MU_NO_NODE UINT32_MAX

/* The memory from which words are read. */
enum mu_words_of {
	MU_WORDS_BLOCK, /* may be old links of free lists */
	MU_WORDS_ROOT,
	MU_WORDS_CODE,       /* a root that is searched at every byte */
	MU_WORDS_BLOCK_CODE, /* a block that is searched at every byte */
};

#define MU_GRAPH_MAX_NODES 0x40000000u   /* nodes whose edges can be stored */
#define MU_GRAPH_MAX_TARGETS 0x3ffffff0u /* size of mu_graph.targets */
#define MU_GRAPH_LARGE                                        \
	((size_t)64 << 10) /* bytes; larger blocks have parts \
			    */

struct mu_reader; /* heapwalk/graph/reader.h */

/* An address as an integer, in a root, that alone leads to a block. */
struct mu_integer {
	uintptr_t address;
	uint32_t target;
	enum mu_root_kind kind;
};

/* A part of a large block, read as a unit. */
struct mu_part {
	struct mu_range range;
	uint32_t block; /* number */
};

struct mu_graph {
	struct mu_blocks *blocks;
	struct mu_memory
	    *memory; /* what was written of large ranges; or NULL */
	struct mu_arena *arena;

	mu_words_filter *filter;
	struct mu_arena_piece *pieces; /* that ARENA had before the edges */

	uint32_t num_blocks, num_nodes;
	size_t *unit_ends;     /* work units of collecting: end of each span */
	struct mu_part *parts; /* node num_blocks + i is part i; by address */
	size_t num_parts;

	uint32_t *cells;   /* one per node; NULL: no edges are stored */
	uint32_t *targets; /* NULL: only single edges are stored */
	size_t capacity, taken;
	bool reads;      /* some node has MU_CELL_READ */
	bool unreadable; /* blocks were removed; never set with READS */

	/* Found by mu_integers_mark(). */
	struct mu_integer *integers;
	size_t num_integers, max_integers;

	size_t num_excused; /* unreachable in this image only: mu_mark_confirm()
			     */

	/*
	 * Nodes with links among their edges, in any order, noted when they are
	 * followed. Room for all of them would take as much as the cells.
	 */
	uint32_t *linkers;
	size_t num_linkers, max_linkers; /* more than MAX: some are not there */
	bool linkers_lost;               /* some were missing earlier */
};

/*
 * Number the blocks, and find all edges. Marks what ROOTS (may be NULL) refer
 * to. MEMORY may be NULL: then all pages of a large range count as written.
 *
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC) came first.
 */
enum mu_status mu_graph_make(struct mu_graph *graph, struct mu_blocks *blocks,
    const struct mu_roots *roots, struct mu_memory *memory,
    struct mu_arena *arena, uint64_t deadline_ns);

/* Free the memory of all edges: from now on they are read from the image. */
void mu_graph_forget_edges(struct mu_graph *graph);

/* The bytes that contain a node's words. */
struct mu_node_bytes {
	struct mu_range range;
	const char *view;
	enum mu_words_of of;
};

/* How to read the words of the block with RANGE. */
enum mu_words_of mu_graph_words_of(
    const struct mu_blocks *blocks, struct mu_range range);

/* Returns false if NODE is a large block: its words belong to its parts. */
bool mu_graph_bytes(
    const struct mu_graph *graph, uint32_t node, struct mu_node_bytes *bytes);

/* Read all edges of NODE from the image; they wait in READER. */
void mu_graph_read(
    const struct mu_graph *graph, uint32_t node, struct mu_reader *reader);

/* The parts of BLOCK: returns their number, and the index of the first. */
size_t mu_graph_parts(
    const struct mu_graph *graph, uint32_t block, size_t *first);

/*
 * Where the edges of NODE are: a value of mu_graph.cells. MU_CELL_READ if none
 * are stored: its words have to be read.
 */
static inline uint32_t
mu_graph_cell(const struct mu_graph *graph, uint32_t node)
{
	return graph->cells != NULL ? graph->cells[node] : MU_CELL_READ;
}

#endif

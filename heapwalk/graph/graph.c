#include "heapwalk/graph/graph.h"

#include "heapwalk/graph/collect.h"
#include "heapwalk/graph/parts.h"
#include "heapwalk/graph/reader.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/spans.h"
#include "mu/bisect.h"

#define MIN_LINKERS 1024 /* at least this, or one of so many nodes */
#define NODES_A_LINKER 32
#define SPARE ((size_t)1 << 20) /* for what is allocated after the edges */

/* Index of the first part of BLOCK or of a later block. */
static size_t
first_part(const struct mu_graph *graph, uint32_t block)
{
	size_t low = 0;

	mu_bisect(low, graph->num_parts, i, graph->parts[i].block < block);
	return low;
}

/*
 * Called for each part when edges are read, so it must not walk over the parts.
 */
size_t
mu_graph_parts(const struct mu_graph *graph, uint32_t block, size_t *first)
{
	*first = first_part(graph, block);
	return first_part(graph, block + 1) - *first;
}

enum mu_words_of
mu_graph_words_of(const struct mu_blocks *blocks, struct mu_range range)
{
	return mu_reference_in_code(blocks, range) ? MU_WORDS_BLOCK_CODE
						   : MU_WORDS_BLOCK;
}

bool
mu_graph_bytes(
    const struct mu_graph *graph, uint32_t node, struct mu_node_bytes *bytes)
{
	const struct mu_part *part = NULL;
	struct mu_block block;
	uint32_t number = node;

	if (node >= graph->num_blocks) {
		part = &graph->parts[node - graph->num_blocks];
		number = part->block;
	}
	if (!mu_blocks_at(graph->blocks, number, &block) ||
	    (part == NULL && mu_range_size(block.range) > MU_GRAPH_LARGE))
		return false;
	bytes->of = mu_graph_words_of(graph->blocks, block.range);
	bytes->range = part != NULL ? part->range : block.range;
	bytes->view = block.view + (bytes->range.begin - block.range.begin);
	return true;
}

void
mu_graph_read(
    const struct mu_graph *graph, uint32_t node, struct mu_reader *reader)
{
	struct mu_node_bytes bytes;
	struct mu_block block;
	size_t count, first;

	if (!mu_graph_bytes(graph, node, &bytes)) {
		count = mu_graph_parts(graph, node, &first);
		for (; count > 0; count--)
			mu_reader_target(reader, node,
			    graph->num_blocks + (uint32_t)first++);
		return;
	}
	if (mu_range_size(bytes.range) < sizeof(uintptr_t))
		return;
	mu_reader_words(reader, node, bytes.view, bytes.range, bytes.of);
	if (graph->blocks->encodings && node < graph->num_blocks &&
	    mu_blocks_at(graph->blocks, node, &block))
		mu_graph_read_encoded(reader, node, &block);
}

/*
 * Allocate *COUNT objects, or half of them, and so on; NULL if not even MIN
 * fit.
 */
static void *
alloc_table(struct mu_arena *arena, size_t *count, size_t min, size_t size)
{
	size_t refused = arena->refused;
	void *table = NULL;

	for (; table == NULL && *count >= min && *count > 0; *count /= 2) {
		table = mu_arena_alloc_table(arena, *count, size);
		if (table != NULL)
			break;
	}
	arena->refused = refused;
	return table;
}

/* No more words than this refer to anything. */
static size_t
most_targets(const struct mu_graph *graph)
{
	size_t words =
	    graph->blocks->bytes / mu_reference_step(graph->blocks, false);
	size_t most = words + (words >> 3) + ((size_t)1 << 18);

	return most < MU_GRAPH_MAX_TARGETS ? most : MU_GRAPH_MAX_TARGETS;
}

/* Allocate tables for edges, as far as memory allows. */
static void
make_room(struct mu_graph *graph)
{
	struct mu_arena *arena = graph->arena;
	size_t left =
	    arena->limit > arena->used ? arena->limit - arena->used : 0;
	size_t count = graph->num_nodes;

	if (count <= MU_GRAPH_MAX_NODES &&
	    left >= count * sizeof(*graph->cells) + SPARE)
		graph->cells =
		    alloc_table(arena, &count, count, sizeof(*graph->cells));
	graph->max_linkers = MIN_LINKERS;
	if (graph->cells != NULL)
		graph->max_linkers += count / NODES_A_LINKER;
	graph->linkers = alloc_table(
	    arena, &graph->max_linkers, MIN_LINKERS, sizeof(*graph->linkers));
	if (graph->linkers == NULL)
		graph->max_linkers = 0;
	if (graph->cells == NULL)
		return;
	left = arena->limit > arena->used + SPARE
	    ? (arena->limit - arena->used - SPARE) / sizeof(*graph->targets)
	    : 0;
	graph->capacity = most_targets(graph);
	if (graph->capacity > left)
		graph->capacity = left;
	graph->targets = alloc_table(
	    arena, &graph->capacity, (size_t)1 << 12, sizeof(*graph->targets));
	if (graph->targets == NULL)
		graph->capacity = 0;
}

void
mu_graph_forget_edges(struct mu_graph *graph)
{
	if (graph->cells == NULL)
		return;
	graph->cells = graph->targets = graph->linkers = NULL;
	graph->num_linkers = graph->max_linkers = 0;
	graph->reads = true;
	mu_arena_rewind(graph->arena, graph->pieces);
}

enum mu_status
mu_graph_make(struct mu_graph *graph, struct mu_blocks *blocks,
    const struct mu_roots *roots, struct mu_memory *memory,
    struct mu_arena *arena, uint64_t deadline_ns)
{
	size_t count = mu_blocks_number(blocks);

	*graph = (struct mu_graph) {
		.blocks = blocks,
		.memory = memory,
		.arena = arena,
		.filter =
		    blocks->filter != NULL ? blocks->filter : mu_words_choose(),
	};
	if (count >= MU_NO_NODE / 2)
		return MU_ERR_NO_MEMORY;
	graph->num_blocks = (uint32_t)count;
	blocks->marks = NULL;
	if (!mu_graph_split(graph) || graph->num_parts >= MU_NO_NODE / 2)
		return MU_ERR_NO_MEMORY;
	graph->num_nodes = (uint32_t)(count + graph->num_parts);
	if (!mu_blocks_unmark(blocks, arena, graph->num_nodes))
		return MU_ERR_NO_MEMORY;
	graph->unit_ends =
	    mu_arena_alloc(arena, blocks->num_spans, sizeof(*graph->unit_ends));
	if (graph->unit_ends == NULL)
		return MU_ERR_NO_MEMORY;
	graph->pieces = arena->pieces;
	make_room(graph);
	graph->reads = graph->cells == NULL;
	return mu_graph_collect(graph, roots, deadline_ns);
}

/*
 * Nodes are described and their edges stored: each block is read once.
 *
 * Workers take pieces of the bitmaps, or some listed blocks. Large blocks come
 * later (heapwalk/graph_large.c).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include <string.h>

#include "heapwalk/encodings.h"
#include "heapwalk/graph_large.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"
#include "heapwalk/workers.h"

#define WORD sizeof(uintptr_t)

#define PIECE_WORDS 256 /* of a bitmap: 256 KiB of heap */
#define PIECE_LISTED 64 /* listed blocks */
#define MAX_CELLS ((size_t)UINT32_MAX)

struct filling {
	struct mu_graph *graph;
	struct mu_arena *arena;
	struct mu_edges_room room;
	uint64_t deadline_ns;
	bool late;
	size_t next;      /* piece that nobody has taken */
	size_t *ends;     /* of the pieces of each span */
	size_t num_large; /* blocks */
	size_t bytes;     /* of all nodes */
};

/* One worker. */
struct filler {
	struct filling *filling;
	struct mu_graph *graph;
	struct mu_edges_store store;
	struct mu_deadline deadline;
	size_t bytes;
};

static void
open_filler(struct filler *filler, struct filling *filling)
{
	filler->filling = filling;
	filler->graph = filling->graph;
	filler->deadline = (struct mu_deadline) { .ns = filling->deadline_ns };
	filler->bytes = 0;
	mu_edges_store_open(&filler->store, filling->graph, &filling->room);
}

/* The next piece; false if the time is over. */
static bool
take(struct filler *filler, size_t *next)
{
	struct filling *filling = filler->filling;

	if (filler->deadline.passed)
		__atomic_store_n(&filling->late, true, __ATOMIC_RELAXED);
	*next = __atomic_fetch_add(&filling->next, 1, __ATOMIC_RELAXED);
	return !__atomic_load_n(&filling->late, __ATOMIC_RELAXED);
}

static bool
wants_edges(const struct filler *filler)
{
	const struct mu_edges_room *room = &filler->filling->room;

	return room->cells != NULL &&
	    !__atomic_load_n(&room->full, __ATOMIC_RELAXED);
}

struct encoded {
	struct filler *filler;
	uint32_t node;
};

static void
add_encoded(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct encoded *encoded = ctx;

	(void)at;
	mu_edges_store_begin(
	    &encoded->filler->store, encoded->node, to->range.begin);
}

static void
fill_node(struct filler *filler, uint32_t node, const struct mu_block *block)
{
	struct mu_graph *graph = filler->graph;
	size_t size = mu_range_size(block->range);

	graph->begins[node] = block->range.begin;
	graph->sizes[node] =
	    size < MU_LARGE_NODE ? (uint32_t)size : MU_LARGE_NODE;
	filler->bytes += size;
	if (size > MU_GRAPH_LARGE) {
		__atomic_fetch_add(
		    &filler->filling->num_large, 1, __ATOMIC_RELAXED);
	} else if (size >= WORD && wants_edges(filler)) {
		mu_edges_store_words(&filler->store, node, block->range,
		    block->range.end, block->view);
		if (graph->blocks->encodings && size == MU_ENCODED_SIZE)
			mu_encodings_each(graph->blocks, block, add_encoded,
			    &(struct encoded) { filler, node });
		mu_deadline_passed(&filler->deadline, size / WORD);
	}
	mu_deadline_passed(&filler->deadline, 8);
}

static void
fill_span(struct filler *filler, size_t index, size_t piece)
{
	const struct mu_span *span = &filler->graph->blocks->spans[index];
	size_t i = piece * PIECE_WORDS, end = i + PIECE_WORDS, at;
	uint32_t node = filler->graph->firsts[index][i];
	struct mu_block block;
	uint64_t bits;

	if (end > span->num_words)
		end = span->num_words;
	for (; i < end; i++) {
		for (bits = mu_graph_bits(span, i); bits != 0;
		     bits &= bits - 1) {
			at = i * MU_WORD_BITS + (size_t)__builtin_ctzll(bits);
			mu_span_find(
			    span, span->range.begin + at * MU_GRAIN, &block);
			fill_node(filler, node++, &block);
		}
	}
}

static bool
fill_listed(struct filler *filler, size_t piece)
{
	const struct mu_blocks *blocks = filler->graph->blocks;
	size_t i = piece * PIECE_LISTED, end = i + PIECE_LISTED;
	const struct mu_listed *listed;
	struct mu_block block = { .mark = NULL };

	if (i >= blocks->num_listed)
		return false;
	for (; i < end && i < blocks->num_listed; i++) {
		listed = &blocks->listed[i];
		if (listed->marked || listed->keep)
			continue;
		block.range = listed->range;
		block.view = listed->view;
		fill_node(filler, filler->graph->listed[i], &block);
	}
	return true;
}

static void
fill_pieces(void *ctx, unsigned worker)
{
	struct filling *filling = ctx;
	size_t num_spans = filling->graph->blocks->num_spans, span = 0, piece;
	struct filler filler;

	(void)worker;
	open_filler(&filler, filling);
	while (take(&filler, &piece)) {
		while (span < num_spans && filling->ends[span] <= piece)
			span++;
		if (span > 0)
			piece -= filling->ends[span - 1];
		if (span < num_spans)
			fill_span(&filler, span, piece);
		else if (!fill_listed(&filler, piece))
			break;
	}
	mu_edges_store_close(&filler.store);
	__atomic_fetch_add(&filling->bytes, filler.bytes, __ATOMIC_RELAXED);
}

/* No more words than that are in nodes; and how many pieces there are. */
static size_t
count_words(struct filling *filling)
{
	const struct mu_blocks *blocks = filling->graph->blocks;
	size_t i, j, grains = 0, bytes = 0, pieces = 0;
	const struct mu_span *span;

	for (i = 0; i < blocks->num_spans; i++) {
		span = &blocks->spans[i];
		pieces += (span->num_words + PIECE_WORDS - 1) / PIECE_WORDS;
		filling->ends[i] = pieces;
		/* What begins in one word may reach over empty ones. */
		for (j = 0; j < span->num_words; j++)
			if (mu_graph_bits(span, j) != 0 ||
			    *mu_span_starts(span, j) == 0)
				grains += MU_WORD_BITS;
	}
	for (i = 0; i < blocks->num_listed; i++)
		if (!blocks->listed[i].marked && !blocks->listed[i].keep)
			bytes += mu_range_size(blocks->listed[i].range);
	return (bytes + grains * MU_GRAIN) / mu_reference_step(blocks, false);
}

/* Cells with room for edges, or else without. */
static bool
make_room(struct filling *filling, size_t num_words, size_t max_bytes)
{
	struct mu_graph *graph = filling->graph;
	size_t own = (size_t)graph->num_nodes << MU_EDGES_SHIFT;
	size_t max = max_bytes / sizeof(*graph->cells), refused;
	size_t least = own + MU_EDGES_CHUNK;
	struct mu_edges_room *room = &filling->room;

	if (max > MAX_CELLS)
		max = MAX_CELLS;
	/* Of each chunk a few cells are left over; two turns of workers. */
	room->capacity = least +
	    (num_words / (MU_EDGES_CHUNK - 8) +
		2 * mu_workers_count(graph->blocks->workers)) *
		MU_EDGES_CHUNK;
	if (room->capacity > max)
		room->capacity = max;
	room->taken = own;
	refused = filling->arena->refused;
	while (room->cells == NULL && room->capacity >= least) {
		room->cells = mu_arena_alloc_table(
		    filling->arena, room->capacity, sizeof(*room->cells));
		if (room->cells == NULL)
			room->capacity /= 2;
	}
	filling->arena->refused = refused;
	graph->cells = room->cells;
	graph->cells_shift = MU_EDGES_SHIFT;
	if (room->cells != NULL)
		return true;
	graph->cells = mu_arena_alloc_table(
	    filling->arena, graph->num_nodes, sizeof(*graph->cells));
	graph->cells_shift = 0;
	return graph->cells != NULL;
}

/* Keep of the cells what is used. */
static void
trim(struct filling *filling, bool all_edges)
{
	struct mu_graph *graph = filling->graph;
	size_t count = filling->room.taken;

	if (filling->room.cells == NULL)
		return;
	if (!all_edges || filling->room.full) {
		count = graph->num_nodes;
		memset(graph->cells, 0, count * sizeof(*graph->cells));
		graph->cells_shift = 0;
	}
	mu_arena_trim(
	    filling->arena, graph->cells, count, sizeof(*graph->cells));
}

bool
mu_graph_fill(struct mu_graph *graph, size_t max_bytes,
    struct mu_memory *memory, struct mu_arena *arena,
    struct mu_deadline *deadline)
{
	struct filling filling = {
		.graph = graph, .arena = arena, .deadline_ns = deadline->ns
	};
	bool all_edges = true;

	filling.ends = mu_arena_alloc(
	    arena, graph->blocks->num_spans, sizeof(*filling.ends));
	if (filling.ends == NULL ||
	    !make_room(&filling, count_words(&filling), max_bytes))
		return false;
	mu_workers_run(
	    graph->blocks->workers, MU_WORKERS_MAX, fill_pieces, &filling);
	graph->bytes = filling.bytes;
	deadline->passed |= filling.late;
	if (filling.num_large > 0 && filling.room.cells != NULL)
		all_edges = mu_graph_large(graph, &filling.room, memory,
		    arena->limit > arena->used ? arena->limit - arena->used : 0,
		    deadline);
	trim(&filling, all_edges);
	return !deadline->passed;
}

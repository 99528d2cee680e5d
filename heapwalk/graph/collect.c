/*
 * A unit of work is a piece of a bitmap, some listed blocks, a part of a large
 * one, or a part of a root.
 */
#include "heapwalk/graph/collect.h"

#include "heapwalk/graph/encodings.h"
#include "heapwalk/graph/reader.h"
#include "heapwalk/graph/roots_reading.h"
#include "heapwalk/graph/store.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/workers.h"
#include "mu/bisect.h"

#define WORD sizeof(uintptr_t)
#define PIECE_WORDS 256 /* bitmap words in a piece: 256 KiB of heap */
#define PIECE_LISTED 16 /* listed blocks */
#define MIN_WORK ((size_t)1 << 20) /* bytes of work that justify a thread */

struct collecting {
	struct mu_graph *graph;
	struct mu_roots_reading roots;
	uint64_t deadline_ns;
	bool late;
	bool plain;  /* mu_reader_span() can be used */
	size_t next; /* first work unit that no worker has taken */
};

/* State of one worker. */
struct collector {
	struct collecting *collecting;
	struct mu_reader edges, marks;
	struct mu_store store;
	struct mu_deadline deadline;
	struct mu_read_buffer buffer;
};

static void
store_edges(struct mu_reader *reader)
{
	struct collector *collector = reader->ctx;

	mu_store_all(&collector->store, reader);
}

static void
set_marks(struct mu_reader *reader)
{
	uint32_t target;
	size_t i;

	for (i = 0; i < reader->count; i++) {
		target = reader->targets[i];
		if (target != MU_NO_NODE)
			mu_blocks_mark(reader->blocks, target);
	}
}

struct encoded {
	struct mu_reader *reader;
	uint32_t node;
};

static void
add_encoded(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct encoded *encoded = ctx;

	(void)at;
	mu_reader_value(encoded->reader, encoded->node, to->range.begin);
}

void
mu_graph_read_encoded(
    struct mu_reader *reader, uint32_t node, const struct mu_block *block)
{
	if (reader->blocks->encodings &&
	    mu_range_size(block->range) == MU_ENCODED_SIZE)
		mu_encodings_each(reader->blocks, block, add_encoded,
		    &(struct encoded) { reader, node });
}

static inline void
collect_block(struct collector *collector, uint32_t node, const char *view,
    struct mu_range range)
{
	size_t size = mu_range_size(range);
	struct mu_block block;

	if (size > MU_GRAPH_LARGE || size < WORD)
		return;
	mu_reader_words(&collector->edges, node, view, range,
	    mu_graph_words_of(collector->edges.blocks, range));
	if (size == MU_ENCODED_SIZE && collector->edges.blocks->encodings &&
	    mu_blocks_at(collector->edges.blocks, node, &block))
		mu_graph_read_encoded(&collector->edges, node, &block);
	mu_deadline_passed(&collector->deadline, size / WORD + 8);
}

/*
 * The bytes of the blocks that start in words WORD to END - 1, up to where word
 * END begins. A large block is read in parts. Returns false if there are none.
 */
static bool
blocks_in(
    const struct mu_span *span, size_t word, size_t end, struct mu_range *range)
{
	uintptr_t begin = span->range.begin;
	size_t start, stop;
	unsigned bit;

	while (word < end && *mu_span_starts(span, word) == 0)
		word++;
	if (word == end)
		return false;
	range->begin = begin + word * MU_WORD_BITS * MU_GRAIN;
	range->end = begin + end * MU_WORD_BITS * MU_GRAIN;
	while (*mu_span_starts(span, end - 1) == 0)
		end--;
	bit = MU_WORD_BITS - 1 -
	    (unsigned)__builtin_clzll(*mu_span_starts(span, end - 1));
	start = ((end - 1) * MU_WORD_BITS + bit) * MU_GRAIN;
	stop = mu_span_end(span, end - 1, bit);
	if (stop - start > MU_GRAPH_LARGE)
		stop = start;
	if (begin + stop < range->end)
		range->end = begin + stop;
	return true;
}

/*
 * Read words WORD to END - 1 of SPAN's bitmap, if mu_reader_span() can be used.
 */
static void
collect_plain(struct collector *collector, const struct mu_span *span,
    size_t word, size_t end)
{
	struct mu_read_buffer *buffer = &collector->buffer;
	struct mu_span near = *span;
	struct mu_range range;
	const char *view;
	size_t offset;

	mu_deadline_passed(&collector->deadline,
	    (end - word) * MU_WORD_BITS * MU_GRAIN / WORD);
	if (!blocks_in(span, word, end, &range))
		return;
	offset = range.begin - span->range.begin;
	view = mu_read_buffer_fill(buffer, range, span->view + offset);
	near.view = (const char *)((uintptr_t)view - offset);
	range = mu_reader_span(&collector->edges, &near, word, end);
	if (mu_range_size(range) == 0)
		return;
	offset = range.begin - span->range.begin;
	view = mu_read_buffer_fill(buffer, range, span->view + offset);
	mu_reader_words(&collector->edges, collector->edges.node, view, range,
	    MU_WORDS_BLOCK);
}

static void
collect_span(
    struct collector *collector, const struct mu_span *span, size_t piece)
{
	size_t word = piece * PIECE_WORDS, end = word + PIECE_WORDS, offset;
	uint32_t node = mu_span_rank(span, word);
	uintptr_t begin = span->range.begin;
	uint64_t bits;
	unsigned bit;

	if (end > span->num_words)
		end = span->num_words;
	if (collector->collecting->plain) {
		collect_plain(collector, span, word, end);
		return;
	}
	for (; word < end; word++) {
		bits = *mu_span_starts(span, word);
		for (; bits != 0; bits &= bits - 1) {
			bit = (unsigned)__builtin_ctzll(bits);
			offset = (word * MU_WORD_BITS + bit) * MU_GRAIN;
			collect_block(collector, node++, span->view + offset,
			    (struct mu_range) { begin + offset,
				begin + mu_span_end(span, word, bit) });
		}
	}
}

static void
collect_listed(struct collector *collector, size_t piece)
{
	const struct mu_blocks *blocks = collector->edges.blocks;
	size_t i = piece * PIECE_LISTED, end = i + PIECE_LISTED;
	const struct mu_listed *listed;

	for (; i < end && i < blocks->num_listed; i++) {
		listed = &blocks->listed[i];
		if (!listed->keep &&
		    mu_range_size(listed->range) <= MU_GRAPH_LARGE)
			collect_block(collector, listed->number,
			    mu_read_buffer_fill(&collector->buffer,
				listed->range, listed->view),
			    listed->range);
	}
}

static void
collect_part(struct collector *collector, size_t index)
{
	const struct mu_graph *graph = collector->collecting->graph;
	uint32_t node = graph->num_blocks + (uint32_t)index;
	struct mu_node_bytes bytes;

	if (!mu_graph_bytes(graph, node, &bytes))
		return;
	mu_reader_flush(&collector->edges);
	mu_store_expect(&collector->store, mu_range_size(bytes.range) / WORD);
	mu_reader_words(&collector->edges, node,
	    mu_read_buffer_fill(&collector->buffer, bytes.range, bytes.view),
	    bytes.range, bytes.of);
	mu_deadline_passed(
	    &collector->deadline, mu_range_size(bytes.range) / WORD);
}

/* Take the next unit of work; false if there is none, or the time is over. */
static bool
take(struct collector *collector, size_t *unit)
{
	struct collecting *collecting = collector->collecting;

	mu_workers_between(collecting->graph->blocks->workers);
	if (collector->deadline.passed)
		__atomic_store_n(&collecting->late, true, __ATOMIC_RELAXED);
	*unit = __atomic_fetch_add(&collecting->next, 1, __ATOMIC_RELAXED);
	return !__atomic_load_n(&collecting->late, __ATOMIC_RELAXED);
}

/* Returns false if UNIT is not such a unit. */
static bool
collect_unit(struct collector *collector, size_t unit)
{
	const struct collecting *collecting = collector->collecting;
	const struct mu_graph *graph = collecting->graph;
	const struct mu_blocks *blocks = graph->blocks;
	size_t span = 0, listed;

	mu_bisect(span, blocks->num_spans, i, graph->unit_ends[i] <= unit);
	unit -= span > 0 ? graph->unit_ends[span - 1] : 0;
	if (span < blocks->num_spans) {
		collect_span(collector, &blocks->spans[span], unit);
		return true;
	}
	listed = (blocks->num_listed + PIECE_LISTED - 1) / PIECE_LISTED;
	if (unit < listed)
		collect_listed(collector, unit);
	else if (unit - listed < graph->num_parts)
		collect_part(collector, unit - listed);
	else
		return false;
	return true;
}

static void
open_collector(struct collector *collector, struct collecting *collecting)
{
	struct mu_graph *graph = collecting->graph;

	collector->collecting = collecting;
	collector->deadline =
	    (struct mu_deadline) { .ns = collecting->deadline_ns };
	mu_store_open(&collector->store, graph);
	mu_reader_open(&collector->edges, graph, store_edges, collector);
	mu_reader_open(&collector->marks, graph, set_marks, collector);
	mu_read_buffer_open(&collector->buffer, graph->memory);
}

static void
collect_some(void *ctx, unsigned worker)
{
	struct collecting *collecting = ctx;
	struct collector collector;
	size_t unit;

	(void)worker;
	open_collector(&collector, collecting);
	if (collecting->graph->cells != NULL) {
		while (
		    take(&collector, &unit) && collect_unit(&collector, unit))
			;
		mu_reader_flush(&collector.edges);
		mu_store_close(&collector.store);
	}
	while (!collector.deadline.passed &&
	    mu_roots_read(&collecting->roots, &collector.marks,
		&collector.buffer, &collector.deadline))
		;
	mu_reader_flush(&collector.marks);
	mu_read_buffer_close(&collector.buffer);
	if (collector.deadline.passed)
		__atomic_store_n(&collecting->late, true, __ATOMIC_RELAXED);
}

/* Add edges from each large block to its parts. */
static void
link_parts(struct mu_graph *graph)
{
	struct mu_store store;
	size_t i;

	mu_store_open(&store, graph);
	for (i = 0; graph->cells != NULL && i < graph->num_parts; i++)
		mu_store_edge(&store, graph->parts[i].block,
		    graph->num_blocks + (uint32_t)i, 0);
	if (graph->cells != NULL)
		mu_store_close(&store);
}

static void
count_tickets(struct collecting *collecting)
{
	const struct mu_blocks *blocks = collecting->graph->blocks;
	size_t i, units = 0;

	for (i = 0; i < blocks->num_spans; i++) {
		units += (blocks->spans[i].num_words + PIECE_WORDS - 1) /
		    PIECE_WORDS;
		collecting->graph->unit_ends[i] = units;
	}
}

/* Blocks that are kept are marked, and followed as roots. */
static void
mark_kept(const struct mu_blocks *blocks)
{
	uint32_t number;
	size_t i;

	for (i = 0; i < blocks->num_listed; i++) {
		number = blocks->listed[i].number;
		if (!blocks->listed[i].keep)
			continue;
		mu_blocks_mark(blocks, number);
		blocks->followed[number / 64] |= 1ull << (number % 64);
	}
}

enum mu_status
mu_graph_collect(
    struct mu_graph *graph, const struct mu_roots *roots, uint64_t deadline_ns)
{
	const struct mu_blocks *blocks = graph->blocks;
	struct collecting collecting = {
		.graph = graph,
		.deadline_ns = deadline_ns,
		.plain = blocks->words.tags == 0 && !blocks->words.unaligned &&
		    !blocks->encodings && blocks->num_code == 0,
	};
	size_t work = blocks->bytes + (roots != NULL ? roots->bytes : 0);
	unsigned count = mu_workers_count(blocks->workers);

	count_tickets(&collecting);
	mu_roots_reading_open(&collecting.roots, roots, blocks, graph->memory);
	mark_kept(blocks);
	link_parts(graph);
	if (count > 1 + work / MIN_WORK)
		count = (unsigned)(1 + work / MIN_WORK);
	mu_workers_run(blocks->workers, count, collect_some, &collecting);
	mu_arena_trim(graph->arena, graph->targets,
	    graph->taken < graph->capacity ? graph->taken : graph->capacity,
	    sizeof(*graph->targets));
	return collecting.late ? MU_ERR_TIMEOUT : MU_OK;
}

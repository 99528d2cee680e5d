/*
 * The unreachable part of the graph: see heapwalk/graph/lost.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/graph/lost.h"

#include "heapwalk/encodings.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"
#include "heapwalk/workers.h"

#define GROUP 64 /* nodes that are looked at together */
#define TICKET_GROUPS 256
#define MANY 4  /* one of so many blocks is lost: most headers are read */
#define AHEAD 2 /* KiB of heap that are on the way from memory */

struct totals {
	size_t count, bytes;
};

static bool
add_to_totals(void *ctx, const struct mu_block *block)
{
	struct totals *totals = ctx;

	totals->count++;
	totals->bytes += mu_range_size(block->range);
	return true;
}

void
mu_lost_count(const struct mu_blocks *blocks, size_t *count, size_t *bytes)
{
	struct totals totals = { 0, 0 };

	mu_blocks_each_unmarked(blocks, add_to_totals, &totals);
	*count = totals.count;
	*bytes = totals.bytes;
}

/* Bit i: node GROUP * I + i is unreachable. */
static inline uint64_t
find_lost(const struct mu_graph *graph, size_t i)
{
	uint64_t lost = ~mu_marks_from(graph->blocks, (uint32_t)(i * GROUP));
	size_t left = graph->num_nodes - i * GROUP;

	return left < GROUP ? lost & ~(~0ull << left) : lost;
}

static size_t
num_groups(const struct mu_graph *graph)
{
	return ((size_t)graph->num_nodes + GROUP - 1) / GROUP;
}

/* The number that the unreachable one NODE has now. */
static inline uint32_t
lost_number(const struct mu_lost *lost, uint32_t node)
{
	uint64_t below =
	    lost->bits[node / GROUP] & ((1ull << (node % GROUP)) - 1);

	return lost->firsts[node / GROUP] + mu_popcount(below);
}

/* The number that NODE had. */
static uint32_t
graph_number(const struct mu_lost *lost, uint32_t node)
{
	size_t low = 0, high = num_groups(lost->graph), middle;
	uint64_t bits;
	uint32_t skip;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (lost->firsts[middle] <= node)
			low = middle;
		else
			high = middle;
	}
	bits = lost->bits[low];
	for (skip = node - lost->firsts[low]; skip > 0; skip--)
		bits &= bits - 1;
	return (uint32_t)(low * GROUP) + (uint32_t)__builtin_ctzll(bits);
}

static bool
number_lost(struct mu_lost *lost)
{
	const struct mu_graph *graph = lost->graph;
	size_t i, groups = num_groups(graph);
	uint32_t next = 0;

	lost->firsts =
	    mu_arena_alloc(graph->arena, groups + 1, sizeof(*lost->firsts));
	lost->bits = mu_arena_alloc(graph->arena, groups, sizeof(*lost->bits));
	if (lost->firsts == NULL || lost->bits == NULL)
		return false;
	for (i = 0; i < groups; i++) {
		lost->firsts[i] = next;
		lost->bits[i] = find_lost(graph, i);
		next += mu_popcount(lost->bits[i]);
	}
	lost->firsts[groups] = next;
	lost->num_nodes = next;
	lost->num_blocks = graph->num_blocks < graph->num_nodes
	    ? lost_number(lost, graph->num_blocks)
	    : next;
	return true;
}

static inline bool
is_lost(const struct mu_lost *lost, uint32_t node)
{
	return (lost->bits[node / GROUP] >> (node % GROUP) & 1) != 0;
}

/* The edges at PLACE, without those that lead to what is reachable. */
static uint32_t
translate_list(struct mu_lost *lost, uint32_t place)
{
	uint32_t *first = &lost->graph->targets[place], *out = first;
	bool last_words = lost->graph->blocks->last_words, counts, last;
	uint32_t target;
	const uint32_t *at;

	for (at = first, last = false; !last; at++) {
		counts = true;
		if ((*at & MU_TARGET_LINK) != 0)
			counts = (*at++ & MU_LINK_STALE) == 0 || last_words;
		target = *at & ~MU_TARGET_LAST;
		last = (*at & MU_TARGET_LAST) != 0;
		if (counts && is_lost(lost, target))
			*out++ = lost_number(lost, target);
	}
	if (out == first)
		return MU_CELL_NONE;
	if (out == first + 1)
		return MU_CELL_ONE | *first;
	out[-1] |= MU_TARGET_LAST;
	return place + 1;
}

static void
translate(struct mu_lost *lost, uint32_t node, uint32_t number)
{
	uint32_t cell = mu_graph_cell(lost->graph, node), target;

	if ((cell & MU_CELL_ONE) != 0) {
		target = cell & ~MU_CELL_ONE;
		cell = is_lost(lost, target)
		    ? MU_CELL_ONE | lost_number(lost, target)
		    : MU_CELL_NONE;
	} else if (cell != MU_CELL_NONE && cell != MU_CELL_READ) {
		cell = translate_list(lost, cell - 1);
	}
	lost->nodes[number].cell = cell;
}

struct opening {
	struct mu_lost *lost;
	uint64_t deadline_ns;
	bool late;
	size_t next;
	size_t bytes;
};

static void
translate_some(void *ctx, unsigned worker)
{
	struct opening *opening = ctx;
	struct mu_lost *lost = opening->lost;
	struct mu_deadline deadline = { .ns = opening->deadline_ns };
	size_t i, end, groups = num_groups(lost->graph);
	uint32_t number;
	uint64_t bits;

	(void)worker;
	while (!deadline.passed) {
		i = __atomic_fetch_add(
		    &opening->next, TICKET_GROUPS, __ATOMIC_RELAXED);
		if (i >= groups)
			return;
		end = i + TICKET_GROUPS < groups ? i + TICKET_GROUPS : groups;
		for (number = lost->firsts[i]; i < end; i++)
			for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
				translate(lost,
				    (uint32_t)(i * GROUP) +
					(uint32_t)__builtin_ctzll(bits),
				    number++);
		mu_deadline_passed(&deadline, TICKET_GROUPS * GROUP);
	}
	__atomic_store_n(&opening->late, true, __ATOMIC_RELAXED);
}

static size_t
set_size(struct mu_lost *lost, uint32_t number, size_t size)
{
	lost->sizes[number] =
	    size < MU_LARGE_SIZE ? (uint32_t)size : MU_LARGE_SIZE;
	return size;
}

/* The headers of the blocks of SPAN that start in WORD are read soon. */
static void
expect_word(const struct mu_span *span, size_t word)
{
	uint64_t bits = *mu_span_starts(span, word);
	const char *view = span->view + word * MU_WORD_BITS * MU_GRAIN;

	for (; bits != 0; bits &= bits - 1)
		__builtin_prefetch(view +
		    (size_t)__builtin_ctzll(bits) * MU_GRAIN - sizeof(size_t));
}

/* The blocks of SPAN that start in WORD: their bytes. */
static size_t
size_word(struct mu_lost *lost, const struct mu_span *span, size_t word)
{
	const struct mu_blocks *blocks = lost->graph->blocks;
	uint64_t bits = mu_span_unmarked(blocks, span, word);
	size_t offset, bytes = 0;
	uint32_t number;

	if (bits == 0)
		return 0;
	/* By address, none but these in between. */
	number = lost_number(lost, mu_span_rank(span, word));
	for (; bits != 0; bits &= bits - 1) {
		offset = (word * MU_WORD_BITS + (size_t)__builtin_ctzll(bits)) *
		    MU_GRAIN;
		bytes += set_size(lost, number++,
		    mu_span_usable(span->view + offset,
			mu_range_size(span->range) - offset));
	}
	return bytes;
}

/* A worker takes TICKET_GROUPS words of all spans at a time. */
static void
size_some(void *ctx, unsigned worker)
{
	struct opening *opening = ctx;
	struct mu_lost *lost = opening->lost;
	const struct mu_blocks *blocks = lost->graph->blocks;
	struct mu_deadline deadline = { .ns = opening->deadline_ns };
	const struct mu_span *span = blocks->spans;
	const struct mu_span *end = span + blocks->num_spans;
	size_t before = 0, bytes = 0, ticket, word;
	bool many = lost->num_blocks > lost->graph->num_blocks / MANY;

	(void)worker;
	while (!deadline.passed) {
		ticket = __atomic_fetch_add(
		    &opening->next, TICKET_GROUPS, __ATOMIC_RELAXED);
		for (word = ticket; word < ticket + TICKET_GROUPS; word++) {
			while (span < end && word >= before + span->num_words)
				before += (span++)->num_words;
			if (span == end)
				break;
			if (many && word - before + AHEAD < span->num_words)
				expect_word(span, word - before + AHEAD);
			bytes += size_word(lost, span, word - before);
		}
		if (span == end)
			break;
		mu_deadline_passed(&deadline, TICKET_GROUPS * GROUP);
	}
	if (deadline.passed)
		__atomic_store_n(&opening->late, true, __ATOMIC_RELAXED);
	__atomic_fetch_add(&opening->bytes, bytes, __ATOMIC_RELAXED);
}

static size_t
size_listed(struct mu_lost *lost)
{
	const struct mu_blocks *blocks = lost->graph->blocks;
	const struct mu_listed *listed = blocks->listed;
	size_t i, bytes = 0;

	for (i = 0; i < blocks->num_listed; i++, listed++)
		if (is_lost(lost, listed->number))
			bytes +=
			    set_size(lost, lost_number(lost, listed->number),
				mu_range_size(listed->range));
	return bytes;
}

/* False: no time. */
static bool
fill(struct mu_lost *lost, struct mu_deadline *deadline)
{
	struct mu_workers *workers = lost->graph->blocks->workers;
	unsigned count = 1 + lost->num_nodes / (TICKET_GROUPS * GROUP);
	struct opening opening = { .lost = lost, .deadline_ns = deadline->ns };

	mu_workers_run(workers, count, translate_some, &opening);
	opening.next = 0;
	mu_workers_run(workers, count, size_some, &opening);
	lost->bytes = opening.bytes + size_listed(lost);
	deadline->passed |= opening.late;
	return !deadline->passed;
}

enum mu_status
mu_lost_open(
    struct mu_lost *lost, struct mu_graph *graph, struct mu_deadline *deadline)
{
	*lost = (struct mu_lost) { .graph = graph };
	if (!number_lost(lost))
		return MU_ERR_NO_MEMORY;
	lost->sizes = mu_arena_alloc_table(
	    graph->arena, lost->num_blocks, sizeof(*lost->sizes));
	lost->nodes = mu_arena_alloc_table(
	    graph->arena, lost->num_nodes, sizeof(*lost->nodes));
	if (lost->sizes == NULL || lost->nodes == NULL)
		return MU_ERR_NO_MEMORY;
	return fill(lost, deadline) ? MU_OK : MU_ERR_TIMEOUT;
}

bool
mu_lost_block(const struct mu_lost *lost, uint32_t node, struct mu_block *block)
{
	return node < lost->num_blocks &&
	    mu_blocks_at(lost->graph->blocks, graph_number(lost, node), block);
}

size_t
mu_lost_large(const struct mu_lost *lost, uint32_t node)
{
	struct mu_block block;

	return mu_lost_block(lost, node, &block) ? mu_range_size(block.range)
						 : 0;
}

void
mu_edges_read(struct mu_edges *edges)
{
	const struct mu_graph *graph = edges->lost->graph;
	uint32_t node = graph_number(edges->lost, edges->node);

	/* A large block has parts in place of words. */
	if (!mu_graph_bytes(graph, node, &edges->bytes))
		edges->bytes.view = NULL;
	edges->node = node;
}

/* The next part of the large block. */
static bool
read_part(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_graph *graph = edges->lost->graph;
	size_t first, count = mu_graph_parts(graph, edges->node, &first);

	if (edges->at > count)
		return false;
	*target = lost_number(
	    edges->lost, graph->num_blocks + (uint32_t)first + edges->at++ - 1);
	return true;
}

struct nth {
	const struct mu_block *block;
	size_t skip;
	uint32_t number;
};

static void
note_nth(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct nth *nth = ctx;

	(void)at;
	if (nth->skip-- == 0)
		nth->number = to->number;
}

/* Behind the words come what heapwalk/encodings.h knows, one by one. */
static bool
read_encoded(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_graph *graph = edges->lost->graph;
	size_t size = mu_range_size(edges->bytes.range);
	struct nth nth;
	struct mu_block block;

	if (size != MU_ENCODED_SIZE || !graph->blocks->encodings ||
	    edges->node >= graph->num_blocks ||
	    !mu_blocks_at(graph->blocks, edges->node, &block))
		return false;
	for (;;) {
		nth = (struct nth) { .skip = edges->at++ - 1 - size,
			.number = MU_NO_NODE };
		mu_encodings_each(graph->blocks, &block, note_nth, &nth);
		if (nth.number == MU_NO_NODE)
			return false;
		if (!is_lost(edges->lost, nth.number))
			continue;
		*target = lost_number(edges->lost, nth.number);
		return true;
	}
}

/* Does WORD at AT lead to an unreachable block? */
static bool
leads(const struct mu_edges *edges, uintptr_t at, uintptr_t word,
    uint32_t *target)
{
	const struct mu_blocks *blocks = edges->lost->graph->blocks;
	struct mu_block to;

	if (!mu_range_has(blocks->envelope, mu_reference_untag(blocks, word)) ||
	    !mu_reference_find(blocks, at, word, &to) ||
	    !is_lost(edges->lost, to.number))
		return false;
	*target = lost_number(edges->lost, to.number);
	return true;
}

bool
mu_edges_read_next(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_blocks *blocks = edges->lost->graph->blocks;
	struct mu_range range = edges->bytes.range;
	bool code = edges->bytes.of == MU_WORDS_BLOCK_CODE;
	uintptr_t word, at;

	if (edges->bytes.view == NULL)
		return read_part(edges, target);
	while (edges->at <= mu_range_size(range)) {
		at = mu_reference_first(
		    blocks, code, range.begin + (edges->at - 1));
		if (!mu_reference_word(
			range, edges->bytes.view, code, at, &word)) {
			edges->at = (uint32_t)mu_range_size(range) + 1;
			break;
		}
		edges->at = (uint32_t)(at - range.begin +
				mu_reference_step(blocks, code)) +
		    1;
		if (leads(edges, at, word, target) ||
		    (code && leads(edges, 0, word & UINT32_MAX, target)))
			return true;
		mu_deadline_passed(edges->deadline, 2);
	}
	return read_encoded(edges, target);
}

/*
 * Storing edges: one worker's part in it.
 *
 * A word that may be an edge waits in a ring while its place in the bitmaps
 * comes from memory, as in marking (heapwalk/scan.c). Where the edges of a node
 * stand depends on which worker was first, their order does not.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/edges_store.h"

#include <string.h>

#include "heapwalk/references.h"

#define WORD sizeof(uintptr_t)

/* A new chunk, which the last one leads to if CONTINUED. */
static bool
next_chunk(struct mu_edges_store *store, bool continued)
{
	struct mu_edges_room *room = store->room;
	uint32_t *cells = room->cells;
	size_t at =
	    __atomic_fetch_add(&room->taken, MU_EDGES_CHUNK, __ATOMIC_RELAXED);

	if (at + MU_EDGES_CHUNK > room->capacity) {
		__atomic_store_n(&room->full, true, __ATOMIC_RELAXED);
		return false;
	}
	if (continued) {
		cells[store->at] = MU_EDGES_JUMP;
		cells[store->at + 1] = (uint32_t)at;
	}
	store->at = at;
	store->end = at + MU_EDGES_CHUNK;
	return true;
}

/* There is always room for a jump. */
static bool
append(struct mu_edges_store *store, uint32_t target, bool continued)
{
	if (store->end - store->at < 3 && !next_chunk(store, continued))
		return false;
	store->room->cells[store->at++] = target + 1;
	return true;
}

/* The first COUNT edges from FIRST on no longer fit into the node's cells. */
static bool
move_out(struct mu_edges_store *store, const uint32_t *first, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!append(store, first[i], i > 0))
			return false;
		if (i == 0)
			store->place = store->at - 1;
	}
	return true;
}

static void
add_edge(struct mu_edges_store *store, uint32_t target)
{
	if (store->count > 0 && target == store->last)
		return;
	store->last = target;
	if (store->count < 3) {
		store->first[store->count++] = target;
		return;
	}
	if (store->count == 3 && !move_out(store, &store->first[1], 2))
		return;
	if (append(store, target, true))
		store->count = 4;
}

static void
begin_node(struct mu_edges_store *store, uint32_t node)
{
	store->node = node;
	store->count = 0;
}

static void
end_node(struct mu_edges_store *store)
{
	uint32_t *cells = store->room->cells, i;

	if (store->count == 0)
		return;
	cells += (size_t)store->node << MU_EDGES_SHIFT;
	for (i = 0; i < store->count && i < 3; i++)
		cells[1 + i] = store->first[i] + 1;
	if (store->count <= 3) {
		cells[store->count] |= MU_EDGES_LAST;
		return;
	}
	cells[2] = MU_EDGES_JUMP;
	cells[3] = (uint32_t)store->place;
	store->room->cells[store->at - 1] |= MU_EDGES_LAST;
}

static const struct mu_span *
span_of(const struct mu_edges_store *store, uintptr_t value)
{
	if (store->span != NULL && mu_range_has(store->span->range, value))
		return store->span;
	return mu_blocks_span(store->graph->blocks, value);
}

/*
 * VALUE's place in the bitmaps is in the cache: unless it is in the first grain
 * of a block, the header of the block before it is asked for.
 */
static void
look_inside(const struct mu_edges_store *store, uintptr_t value)
{
	const struct mu_span *span = span_of(store, value);
	size_t grain, at;
	uint64_t bits;

	if (span == NULL)
		return;
	grain = (value - span->range.begin) / MU_GRAIN;
	at = grain / 64;
	bits = *mu_span_starts(span, at) & (~0ull >> (63 - grain % 64));
	if (bits == 0 || (bits >> (grain % 64)) != 0)
		return;
	grain = at * 64 + 63 - (size_t)__builtin_clzll(bits);
	__builtin_prefetch(span->view + grain * MU_GRAIN - WORD);
}

/* Does VALUE lead to a node? All that tells is in the cache. */
static bool
find_target(const struct mu_edges_store *store, uintptr_t value,
    uintptr_t address, uint32_t *target)
{
	const struct mu_graph *graph = store->graph;
	const struct mu_span *span = span_of(store, value);
	uint64_t bit;
	size_t at;

	if (span != NULL) {
		at = mu_graph_word(span, value);
		bit = 1ull << ((value - span->range.begin) / MU_GRAIN % 64);
		/* The first grain of a block: no need to know its end. */
		if (*mu_span_starts(span, at) & bit) {
			*target = mu_graph_number(graph, span, at, bit);
			return (*mu_span_marks(span, at) & bit) == 0;
		}
	}
	return mu_graph_target(graph, address, value, target);
}

static void
settle_oldest(struct mu_edges_store *store)
{
	unsigned oldest = store->oldest;
	uint32_t node = store->nodes[oldest], target;

	if (node != store->node) {
		end_node(store);
		begin_node(store, node);
	}
	if (find_target(store, store->values[oldest], store->addresses[oldest],
		&target) &&
	    target != node)
		add_edge(store, target);
	store->oldest = (oldest + 1) % MU_EDGES_WAITING;
	store->num_waiting--;
}

static void
settle_all(struct mu_edges_store *store)
{
	while (store->num_waiting > 0)
		settle_oldest(store);
}

/* Value, address and node one by one: see settle_oldest() in scan_words.c. */
static void
take_word(struct mu_edges_store *store, uint32_t node, uintptr_t address,
    uintptr_t value)
{
	const struct mu_graph *graph = store->graph;
	unsigned place;
	size_t at;

	store->span = span_of(store, value);
	if (store->span != NULL) {
		at = mu_graph_word(store->span, value);
		__builtin_prefetch(mu_span_starts(store->span, at));
		__builtin_prefetch(
		    &graph->firsts[store->span - graph->blocks->spans][at]);
	}
	if (store->num_waiting == MU_EDGES_WAITING)
		settle_oldest(store);
	place = (store->oldest + store->num_waiting++) % MU_EDGES_WAITING;
	store->values[place] = value;
	store->addresses[place] = address;
	store->nodes[place] = node;
	if (store->num_waiting > MU_EDGES_WAITING / 2)
		look_inside(store,
		    store->values[(place + MU_EDGES_WAITING / 2) %
			MU_EDGES_WAITING]);
}

/* The same for words at multiples of their size, and without tags. */
static void
take_aligned(struct mu_edges_store *store, uint32_t node, struct mu_range range,
    const char *view)
{
	const struct mu_range envelope = store->graph->blocks->envelope;
	size_t left, count, i;
	uintptr_t at, value;
	uint64_t found;

	for (at = range.begin; at < range.end;
	     at += count * WORD, view += count * WORD) {
		left = (range.end - at + WORD - 1) / WORD;
		count = left < MU_WORDS_MAX ? left : MU_WORDS_MAX;
		found = store->filter(
		    view, count, envelope.begin, mu_range_size(envelope));
		for (; found != 0; found &= found - 1) {
			i = (size_t)__builtin_ctzll(found);
			memcpy(&value, view + i * WORD, WORD);
			take_word(store, node, at + i * WORD, value);
		}
	}
}

/* Is ADDRESS in a block that is searched at every byte? */
static bool
is_code(const struct mu_blocks *blocks, uintptr_t address)
{
	struct mu_block block;

	return blocks->num_code > 0 &&
	    mu_blocks_find(blocks, address, &block) &&
	    mu_reference_in_code(blocks, block.range);
}

/* Addresses of 32 bits that begin in RANGE, of a block that ends at END. */
static void
take_halves(struct mu_edges_store *store, uint32_t node, struct mu_range range,
    uintptr_t end, const char *view)
{
	uint32_t half;

	for (; range.begin < range.end && end - range.begin >= sizeof(half);
	     range.begin++, view++) {
		memcpy(&half, view, sizeof(half));
		if (mu_range_has(store->graph->blocks->envelope, half))
			take_word(store, node, 0, half);
	}
}

void
mu_edges_store_words(struct mu_edges_store *store, uint32_t node,
    struct mu_range range, uintptr_t end, const char *view)
{
	const struct mu_blocks *blocks = store->graph->blocks;
	uintptr_t tags = blocks->words.tags, begin = range.begin, word;
	bool code = is_code(blocks, begin);
	size_t step = mu_reference_step(blocks, code);

	range.begin = mu_reference_first(blocks, code, begin);
	view += range.begin - begin;
	if (code && blocks->envelope.begin <= UINT32_MAX)
		take_halves(store, node, range, end, view);
	if (range.end > end - (WORD - 1))
		range.end = end - (WORD - 1);
	if (step == WORD && tags == 0) {
		take_aligned(store, node, range, view);
		return;
	}
	for (; range.begin < range.end; range.begin += step, view += step) {
		memcpy(&word, view, WORD);
		if (!mu_range_has(blocks->envelope, word & ~tags))
			continue;
		/* A word with tags is no link of malloc's, wherever it is. */
		take_word(store, node, (word & tags) == 0 ? range.begin : 0,
		    word & ~tags);
	}
}

void
mu_edges_store_begin(
    struct mu_edges_store *store, uint32_t node, uintptr_t begin)
{
	take_word(store, node, 0, begin);
}

void
mu_edges_store_open(struct mu_edges_store *store, const struct mu_graph *graph,
    struct mu_edges_room *room)
{
	*store = (struct mu_edges_store) {
		.graph = graph, .room = room, .filter = mu_words_choose()
	};
}

void
mu_edges_store_close(struct mu_edges_store *store)
{
	settle_all(store);
	end_node(store);
	store->count = 0;
}

void
mu_edges_store_part(struct mu_edges_store *store, size_t *first, size_t *tail)
{
	uint32_t *cells = store->room->cells, count;

	settle_all(store);
	count = store->count;
	store->count = 0;
	*first = *tail = 0;
	if (count == 0 || (count <= 3 && !move_out(store, store->first, count)))
		return;
	/* What would have stood in the node's own cells. */
	if (count > 3 && !append(store, store->first[0], true))
		return;
	*first = store->place;
	cells[store->at] = MU_EDGES_JUMP;
	cells[store->at + 1] = 0;
	*tail = store->at + 1;
	store->at += 2;
}

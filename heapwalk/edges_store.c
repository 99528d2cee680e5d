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

/* Does VALUE lead to a node? Its place in the bitmaps is in the cache. */
static bool
find_target(const struct mu_edges_store *store,
    const struct mu_edges_word *word, uintptr_t value, uint32_t *target)
{
	const struct mu_graph *graph = store->graph;
	const struct mu_span *span = store->span;
	uint64_t bit;
	size_t at;

	if (span == NULL || !mu_range_has(span->range, value))
		span = mu_blocks_span(graph->blocks, value);
	if (span != NULL) {
		at = mu_graph_word(span, value);
		bit = 1ull << ((value - span->range.begin) / MU_GRAIN % 64);
		/* The first grain of a block: no need to know its end. */
		if (*mu_span_starts(span, at) & bit) {
			*target = mu_graph_number(graph, span, at, bit);
			return (*mu_span_marks(span, at) & bit) == 0;
		}
	}
	return mu_graph_target(graph, word->address, word->word, target);
}

static void
settle_oldest(struct mu_edges_store *store)
{
	const struct mu_edges_word *word = &store->ring[store->oldest];
	uint32_t target;

	if (word->node != store->node) {
		end_node(store);
		begin_node(store, word->node);
	}
	if (find_target(store, word,
		mu_reference_untag(store->graph->blocks, word->word),
		&target) &&
	    target != word->node)
		add_edge(store, target);
	store->oldest = (store->oldest + 1) % MU_EDGES_WAITING;
	store->num_waiting--;
}

static void
settle_all(struct mu_edges_store *store)
{
	while (store->num_waiting > 0)
		settle_oldest(store);
}

static void
take_word(
    struct mu_edges_store *store, struct mu_edges_word word, uintptr_t value)
{
	const struct mu_graph *graph = store->graph;
	size_t at;

	if (store->span == NULL || !mu_range_has(store->span->range, value))
		store->span = mu_blocks_span(graph->blocks, value);
	if (store->span != NULL) {
		at = mu_graph_word(store->span, value);
		__builtin_prefetch(mu_span_starts(store->span, at));
		__builtin_prefetch(
		    &graph->firsts[store->span - graph->blocks->spans][at]);
	}
	if (store->num_waiting == MU_EDGES_WAITING)
		settle_oldest(store);
	store->ring[(store->oldest + store->num_waiting++) % MU_EDGES_WAITING] =
	    word;
}

void
mu_edges_store_words(struct mu_edges_store *store, uint32_t node,
    struct mu_range range, uintptr_t end, const char *view)
{
	const struct mu_blocks *blocks = store->graph->blocks;
	const struct mu_range envelope = blocks->envelope;
	uintptr_t tags = blocks->words.tags, at, word, value;
	uintptr_t width = mu_range_size(envelope);
	size_t step = mu_reference_step(blocks);

	at = mu_reference_first(blocks, range.begin);
	view += at - range.begin;
	if (range.end > end - (WORD - 1))
		range.end = end - (WORD - 1);
	for (; at < range.end; at += step, view += step) {
		memcpy(&word, view, WORD);
		value = word & ~tags;
		if (value - envelope.begin < width)
			take_word(store,
			    (struct mu_edges_word) { at, word, node }, value);
	}
}

void
mu_edges_store_open(struct mu_edges_store *store, const struct mu_graph *graph,
    struct mu_edges_room *room)
{
	*store = (struct mu_edges_store) { .graph = graph, .room = room };
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

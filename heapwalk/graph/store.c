/*
 * The position of a node's edges depends on which worker was first; their order
 * does not.
 */
#include "heapwalk/graph/store.h"

#include <string.h>

#define PIECE ((size_t)1 << 13) /* targets allocated to a worker at a time */
#define NODES_A_PIECE 4         /* of as many edges as expected */

/*
 * Get a piece of SIZE targets or more, with room for twice those that the node
 * has already.
 */
static bool
next_piece(struct mu_store *store, size_t size)
{
	struct mu_graph *graph = store->graph;
	size_t have = store->at - store->first, at;

	if (graph->targets == NULL)
		return false;
	if (size < 2 * (have + 2))
		size = 2 * (have + 2);
	at = __atomic_fetch_add(&graph->taken, size, __ATOMIC_RELAXED);
	if (at + size > graph->capacity)
		return false;
	memcpy(&graph->targets[at], &graph->targets[store->first],
	    have * sizeof(*graph->targets));
	store->first = at;
	store->at = at + have;
	store->end = at + size;
	return true;
}

static inline void
put(struct mu_store *store, uint32_t target, uint32_t link)
{
	uint32_t *targets = store->graph->targets;

	if (store->end - store->at < 2 && !next_piece(store, PIECE)) {
		store->full = true;
		return;
	}
	if (link != 0)
		targets[store->at++] = link;
	targets[store->at++] = target;
}

static void
end_node(struct mu_store *store)
{
	struct mu_graph *graph = store->graph;
	uint32_t *cell = &graph->cells[store->node];

	if (store->full) {
		*cell = MU_CELL_READ;
		__atomic_store_n(&graph->reads, true, __ATOMIC_RELAXED);
		store->at = store->first;
	} else if (store->count == 1 && !store->links) {
		*cell = MU_CELL_ONE | store->only;
	} else if (store->count > 0) {
		graph->targets[store->at - 1] |= MU_TARGET_LAST;
		*cell = (uint32_t)store->first + 1;
	}
	store->first = store->at;
}

static inline void
begin_node(struct mu_store *store, uint32_t node)
{
	store->node = node;
	store->count = 0;
	store->last = MU_TARGET_LAST;
	store->links = store->full = false;
}

static inline void
add(struct mu_store *store, uint32_t node, uint32_t target, uint32_t link)
{
	if (node != store->node) {
		end_node(store);
		begin_node(store, node);
	}
	if (target == node || store->full ||
	    (target == store->last && link == 0))
		return;
	store->last = link == 0 ? target : MU_TARGET_LAST;
	if (store->count == 0 && link == 0) {
		store->only = target;
		store->count = 1;
		return;
	}
	if (store->count == 1 && !store->links)
		put(store, store->only, 0);
	store->links |= link != 0;
	store->count = 2;
	if (!store->full)
		put(store, target, link);
}

void
mu_store_edge(
    struct mu_store *store, uint32_t node, uint32_t target, uint32_t link)
{
	add(store, node, target, link);
}

void
mu_store_all(struct mu_store *store, const struct mu_reader *reader)
{
	struct mu_store here = *store; /* not changed by what is stored */
	size_t i;

	for (i = 0; i < reader->count; i++)
		if (reader->targets[i] != MU_NO_NODE)
			add(&here, reader->nodes[i], reader->targets[i],
			    reader->links[i]);
	*store = here;
}

void
mu_store_open(struct mu_store *store, struct mu_graph *graph)
{
	*store = (struct mu_store) { .graph = graph };
	begin_node(store, 0);
}

void
mu_store_close(struct mu_store *store)
{
	end_node(store);
	begin_node(store, store->node);
}

void
mu_store_expect(struct mu_store *store, size_t count)
{
	size_t size = NODES_A_PIECE * count;
	const struct mu_graph *graph = store->graph;

	mu_store_close(store);
	if (store->end - store->at < count &&
	    __atomic_load_n(&graph->taken, __ATOMIC_RELAXED) + size <=
		graph->capacity)
		next_piece(store, size);
}

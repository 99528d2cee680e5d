/*
 * Storing edges: one worker's part in it.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_EDGES_STORE_H
#define HEAPWALK_EDGES_STORE_H

#include "heapwalk/edges.h"
#include "heapwalk/words.h"

/* Half of them wait for the bitmaps, half for the header of a block. */
#define MU_EDGES_WAITING 32

/* What all workers share. */
struct mu_edges_room {
	uint32_t *cells; /* NULL: edges are not stored */
	size_t capacity; /* of cells */
	size_t taken;    /* cells handed out to nodes and workers */
	bool full;       /* some edges found no room: none may be used */
};

struct mu_edges_store {
	const struct mu_graph *graph;
	struct mu_edges_room *room;
	mu_words_filter *filter;
	const struct mu_span *span; /* of the last word */
	size_t at, end;             /* of a chunk of cells that is ours */

	/* The node whose edges come in, its first edges, and how many. */
	uint32_t node, first[3], last, count;
	size_t place; /* of those behind the first, if COUNT is over 3 */

	/* Words on their way to be edges: a ring. */
	uintptr_t values[MU_EDGES_WAITING], addresses[MU_EDGES_WAITING];
	uint32_t nodes[MU_EDGES_WAITING];
	unsigned oldest, num_waiting;
};

void mu_edges_store_open(struct mu_edges_store *store,
    const struct mu_graph *graph, struct mu_edges_room *room);

/*
 * Those words of NODE that begin in RANGE, which is read at VIEW; the block
 * ends at END. Nodes must come one after the other.
 */
void mu_edges_store_words(struct mu_edges_store *store, uint32_t node,
    struct mu_range range, uintptr_t end, const char *view);

/* NODE, whose words were given last, leads to the block at BEGIN, too. */
void mu_edges_store_begin(
    struct mu_edges_store *store, uint32_t node, uintptr_t begin);

/* All words have been given: the last nodes are finished. */
void mu_edges_store_close(struct mu_edges_store *store);

/*
 * The same for a part of a node: its edges stand at *FIRST (0: it has none),
 * and the place where the next part's stand goes to *TAIL.
 */
void mu_edges_store_part(
    struct mu_edges_store *store, size_t *first, size_t *tail);

#endif

/* Store edges: the work of one thread. */
#ifndef HEAPWALK_GRAPH_STORE_H
#define HEAPWALK_GRAPH_STORE_H

#include "heapwalk/graph/reader.h"

struct mu_store {
	struct mu_graph *graph;
	size_t at, end; /* of this worker's piece of targets */

	/* The node whose edges are being added. */
	uint32_t node, count, only, last;
	size_t first; /* index of its edges, from the second on */
	bool links, full;
};

/* Prepare STORE to add edges to GRAPH; each worker has one. */
void mu_store_open(struct mu_store *store, struct mu_graph *graph);

/*
 * Make room for the COUNT edges that the next node has at most, if possible:
 * otherwise those that it has already are copied where room ends. Everything
 * before was stored.
 */
void mu_store_expect(struct mu_store *store, size_t count);

/* Store everything that READER has resolved. */
void mu_store_all(struct mu_store *store, const struct mu_reader *reader);

/*
 * Store an edge of NODE; LINK is 0, or MU_TARGET_LINK and similar. All edges of
 * one node must come in sequence.
 */
void mu_store_edge(
    struct mu_store *store, uint32_t node, uint32_t target, uint32_t link);

/* Call after the last edge. */
void mu_store_close(struct mu_store *store);

#endif

/* Store edges: the work of one thread. */
#ifndef HEAPWALK_GRAPH_STORE_H
#define HEAPWALK_GRAPH_STORE_H

#include "heapwalk/graph/reader.h"

struct mu_store {
	struct mu_graph *graph;
	size_t at, end; /* of a piece of targets that is ours */

	/* The node whose edges come in. */
	uint32_t node, count, only, last;
	size_t first; /* of its edges, from the second on */
	bool links, full;
};

void mu_store_open(struct mu_store *store, struct mu_graph *graph);

/* What READER has settled. */
void mu_store_all(struct mu_store *store, const struct mu_reader *reader);

/*
 * An edge of NODE; LINK: 0, or MU_TARGET_LINK and the like. Those of one node
 * come one after the other.
 */
void mu_store_edge(
    struct mu_store *store, uint32_t node, uint32_t target, uint32_t link);

/* No more edges. */
void mu_store_close(struct mu_store *store);

#endif

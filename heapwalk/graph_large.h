/*
 * The edges of large blocks.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_GRAPH_LARGE_H
#define HEAPWALK_GRAPH_LARGE_H

#include "heapwalk/edges_store.h"

#define MU_GRAPH_LARGE (256u << 10) /* bytes: a block of more is large */

/*
 * Store the edges of every large block of GRAPH in ROOM. Only what MEMORY says
 * was written is read; NULL: all of it. LIMIT: bytes that this may take beside.
 * False if they are not complete.
 */
bool mu_graph_large(struct mu_graph *graph, struct mu_edges_room *room,
    struct mu_memory *memory, size_t limit, struct mu_deadline *deadline);

#endif

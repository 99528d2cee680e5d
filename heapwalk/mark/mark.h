/*
 * Mark every block that can be reached from the roots, on the graph.
 */
#ifndef HEAPWALK_MARK_MARK_H
#define HEAPWALK_MARK_MARK_H

#include "heapwalk/graph/graph.h"

/*
 * GRAPH was made with the roots. MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC)
 * passed; marks are then incomplete and must not be reported.
 */
enum mu_status mu_mark(struct mu_graph *graph, uint64_t deadline_ns);

/*
 * For a second image: blocks were marked, and CANDIDATES (by address) are those
 * that were unreachable in an earlier image of the same process. An unmarked
 * block that is not among them counts as a root. Otherwise like mu_mark().
 */
enum mu_status mu_mark_confirm(struct mu_graph *graph,
    const struct mu_range *candidates, size_t count, uint64_t deadline_ns);

/* The same for blocks that were marked since: mark what they lead to. */
enum mu_status mu_mark_on(struct mu_graph *graph, uint64_t deadline_ns);

/* mu_mark() with room for MAX_DEPTH pending nodes, at least 1. */
enum mu_status mu_mark_bounded(
    struct mu_graph *graph, uint64_t deadline_ns, size_t max_depth);

#endif

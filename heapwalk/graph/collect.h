/*
 * The single pass over the image: collect the edges of all blocks, and mark
 * what the roots refer to.
 */
#ifndef HEAPWALK_GRAPH_COLLECT_H
#define HEAPWALK_GRAPH_COLLECT_H

#include "heapwalk/graph/graph.h"
#include "heapwalk/subject/deadline.h"

/* MU_ERR_TIMEOUT: DEADLINE_NS came first. ROOTS may be NULL. */
enum mu_status mu_graph_collect(
    struct mu_graph *graph, const struct mu_roots *roots, uint64_t deadline_ns);

/*
 * Read the references of BLOCK, which is NODE, according to
 * heapwalk/graph/encodings.h.
 */
void mu_graph_read_encoded(
    struct mu_reader *reader, uint32_t node, const struct mu_block *block);

#endif

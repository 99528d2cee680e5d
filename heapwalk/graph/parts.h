/* Split a long range into parts, and skip those that were never written. */
#ifndef HEAPWALK_GRAPH_PARTS_H
#define HEAPWALK_GRAPH_PARTS_H

#include "heapwalk/graph/graph.h"

struct mu_parts {
	struct mu_memory *memory; /* NULL: all of it counts as written */
	struct mu_range rest, written;
	uintptr_t begin; /* of the whole range */
	size_t back;
};

/*
 * BACK is the number of bytes before a part, if the previous one is adjacent,
 * from which on bytes belong to words that end in the part.
 */
void mu_parts_open(struct mu_parts *parts, struct mu_memory *memory,
    struct mu_range range, size_t back);

/* The next part, which contains whole words only; false if there is none. */
bool mu_parts_next(struct mu_parts *parts, struct mu_range *part);

/*
 * Make nodes of all parts of large blocks. Returns false if memory is
 * exhausted.
 */
bool mu_graph_split(struct mu_graph *graph);

#endif

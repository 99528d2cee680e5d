/* Split a long range into parts, of which only written ones are read. */
#ifndef HEAPWALK_GRAPH_PARTS_H
#define HEAPWALK_GRAPH_PARTS_H

#include "heapwalk/graph/graph.h"

struct mu_parts {
	struct mu_memory *memory; /* NULL: all of it was written */
	struct mu_range rest, written;
	size_t back;
	bool begun;
};

/*
 * BACK: bytes before a part, where the one before touches it, in which words
 * begin that end in it.
 */
void mu_parts_open(struct mu_parts *parts, struct mu_memory *memory,
    struct mu_range range, size_t back);

/* The next part, in which all of a word must lie; false: no more. */
bool mu_parts_next(struct mu_parts *parts, struct mu_range *part);

/* All parts of large blocks become nodes. False: no memory. */
bool mu_graph_split(struct mu_graph *graph);

#endif

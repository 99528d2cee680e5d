/*
 * Read the roots with several workers: memory outside the heap, blocks that are
 * always kept, and single words.
 */
#ifndef HEAPWALK_GRAPH_ROOTS_READING_H
#define HEAPWALK_GRAPH_ROOTS_READING_H

#include "heapwalk/graph/parts.h"
#include "heapwalk/graph/reader.h"
#include "heapwalk/subject/deadline.h"
#include "heapwalk/subject/read_buffer.h"

struct mu_roots_reading {
	const struct mu_roots *roots;
	const struct mu_blocks *blocks;
	struct mu_memory *memory;
	int lock;    /* protects the members below */
	size_t next; /* next range, or listed block after the ranges */
	struct mu_parts parts; /* of the root before NEXT */
	bool ended;            /* the single words were taken, too */
};

/* ROOTS may be NULL: then only kept blocks are read. */
void mu_roots_reading_open(struct mu_roots_reading *reading,
    const struct mu_roots *roots, const struct mu_blocks *blocks,
    struct mu_memory *memory);

/* Read a piece, through BUFFER; false if every piece has been taken. */
bool mu_roots_read(struct mu_roots_reading *reading, struct mu_reader *reader,
    struct mu_read_buffer *buffer, struct mu_deadline *deadline);

#endif

/*
 * What a block is by the container that leads to it.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_HELD_PART_H
#define LIB_TYPES_HELD_PART_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

/* Bytes of the name. */
#define MU_HELD_PART_NAME 64

/* Initialise to zero. */
struct mu_held_parts {
	bool asked;
	unsigned libraries; /* of the subject: MU_LIBRARY_CXX and so on */
	size_t steps;       /* in vain, of all questions */
	bool elements;      /* the last one found has those of a vector */
	bool node; /* the last one found is a node that structures may look like
		    */
	bool slices; /* the last one found is a page of GLib's slices */
	char name[MU_HELD_PART_NAME];
};

/*
 * Find the type of the block with HEAD, to which the word at AT leads, or which
 * is a container that begins at AT. Returns false if that is no part of a
 * container of LIBRARIES.
 */
bool mu_held_part_find(struct mu_held_parts *parts,
    const struct mu_symbols *symbols, const struct mu_block_head *head,
    uintptr_t at, unsigned libraries, struct mu_type *type);

#endif

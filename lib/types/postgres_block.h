/*
 * Memory of PostgreSQL, which has it in contexts with names; each is a list of
 * large blocks that it divides.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_POSTGRES_BLOCK_H
#define LIB_TYPES_POSTGRES_BLOCK_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

#define MU_POSTGRES_NAME 96 /* bytes, with the end */

/* Initialise to zero. */
struct mu_postgres_blocks {
	bool asked;
	bool there; /* the subject is a server of PostgreSQL */
	char name[MU_POSTGRES_NAME];
};

/*
 * Find the type of the block with HEAD, which is probable: "memory context
 * CacheMemoryContext", "block of memory context ...". Returns false if it is
 * neither.
 */
bool mu_postgres_block_find(struct mu_postgres_blocks *blocks,
    const struct mu_symbols *symbols, const struct mu_block_head *head,
    struct mu_type *type);

#endif

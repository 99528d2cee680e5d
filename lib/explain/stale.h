/*
 * Which live blocks are as they were at earlier looks at the same process: the
 * same bytes, and as many pointers to them. A part of an object that changes,
 * such as the name of a session that counts its requests, is in use with it.
 * What a look knows of them is kept in memory that the looks of a watch share,
 * as each may be in a child with the rights of the process: 16 bytes of each of
 * at most MU_STALE_BLOCKS blocks; of more every second, fourth... object stands
 * for the others.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_STALE_H
#define LIB_EXPLAIN_STALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/heaps/blocks.h"

#define MU_STALE_BLOCKS ((size_t)1 << 21)

struct mu_stale; /* of all looks */
struct mu_explaining;

/* NULL: there is no memory. */
struct mu_stale *mu_stale_new(void);

/* Begin with another process. Accepts NULL. */
void mu_stale_forget(struct mu_stale *stale);
void mu_stale_free(struct mu_stale *stale);

/* One look. Zero: nothing is stale. */
struct mu_stale_look {
	struct mu_stale *stale;
	const struct mu_explaining *explaining;
	uint32_t *seconds; /* of each block, by number: it is as it was. Before:
			      pointers to it */
	uint32_t *holders; /* the only block that leads to it */
	unsigned sparse;   /* one object of 2^SPARSE is known */
	uint32_t now;      /* in seconds */
};

/* Returns false if memory is exhausted. */
bool mu_stale_look_open(struct mu_stale_look *look, struct mu_stale *stale,
    const struct mu_explaining *explaining);

/* Compare BLOCK with what it was. */
void mu_stale_compare(struct mu_stale_look *look, const struct mu_block *block);

/*
 * All were compared: for how many seconds BLOCK and what it is a part of are
 * known to be as they are, at least; 0: they have changed, or are not known.
 * *BLOCKS: for how many it stands.
 */
uint32_t mu_stale_seconds(const struct mu_stale_look *look,
    const struct mu_block *block, size_t *blocks);

/* All blocks were compared: the next look compares with this one. */
void mu_stale_look_end(struct mu_stale_look *look);

#endif

/*
 * Walk a chain in parts, by several workers at once.
 *
 * The first chunk of a part is known only when the parts before it are walked.
 * So a worker guesses: where enough chunks follow each other it starts, walks
 * to the end of the part, and records chunks in bitmap words that belong to
 * that part only. Then the parts are joined in order. Two walks that meet at
 * one chunk are the same from there on, since each chunk determines the next;
 * so a part is used from the chunk at which the walk of those before it meets
 * its own. One that does not, or that broke a rule, is undone and walked again.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_PARTS_H
#define HEAPWALK_HEAPS_GLIBC_PARTS_H

#include "heapwalk/heaps/glibc/step.h"

struct mu_glibc_part;

struct mu_glibc_parts {
	struct mu_glibc_part *parts; /* by chain, then by address */
	size_t count, max;
	size_t next;   /* first part that no worker has taken */
	size_t joined; /* number of joined parts */
	const struct mu_glibc_walk *walk;
};

/* Make an empty list of parts. */
void mu_glibc_parts_open(struct mu_glibc_parts *parts);

/*
 * Add CHAIN, which must stay where it is. Its span was added, and chain->end is
 * the latest possible end.
 */
void mu_glibc_parts_add(struct mu_glibc_parts *parts,
    struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain);

/* Walk all added chains. */
void mu_glibc_parts_walk(
    struct mu_glibc_parts *parts, const struct mu_glibc_walk *walk);

/*
 * Advance STEP from the start of CHAIN to its end, by joining parts or, without
 * parts, by a walk. Chains must come in the order in which they were added.
 * Returns NULL, or the rule that the chunk at step->at breaks.
 */
const char *mu_glibc_parts_join(struct mu_glibc_parts *parts,
    const struct mu_glibc_chain *chain, struct mu_glibc_step *step);

#endif

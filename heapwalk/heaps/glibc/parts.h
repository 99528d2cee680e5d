/*
 * Chains that several workers walk at once, in parts.
 *
 * The first chunk of a part is only known from the parts before it. A worker
 * guesses: from where so many chunks follow each other it goes on up to the
 * next part, and puts down what it met in words of the bitmaps that are that
 * part's alone. Then the parts are joined in order. Two walks that meet at one
 * chunk are one from there on, as each chunk says where the next is; so a part
 * is taken from the chunk on at which those before it arrive. One that this
 * chunk is not of, or that broke a rule, is wiped out and walked again from
 * there.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_PARTS_H
#define HEAPWALK_HEAPS_GLIBC_PARTS_H

#include "heapwalk/heaps/glibc/step.h"

struct mu_glibc_part;

struct mu_glibc_parts {
	struct mu_glibc_part *parts; /* by chain, then by address */
	size_t count, max;
	size_t next;   /* that no worker has taken yet */
	size_t joined; /* so many of them */
	const struct mu_glibc_walk *walk;
};

void mu_glibc_parts_open(struct mu_glibc_parts *parts);

/*
 * CHAIN is to be walked, too: its span was added, and chain->end is where it
 * must end at the latest. It must stay where it is.
 */
void mu_glibc_parts_add(struct mu_glibc_parts *parts,
    struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain);

/* Walk what was added. */
void mu_glibc_parts_walk(
    struct mu_glibc_parts *parts, const struct mu_glibc_walk *walk);

/*
 * STEP, at the start of CHAIN, becomes what it is at its end; of parts if there
 * are any, else by a walk. Chains are to come as they were added. NULL, or the
 * rule that the chunk at step->at breaks.
 */
const char *mu_glibc_parts_join(struct mu_glibc_parts *parts,
    const struct mu_glibc_chain *chain, struct mu_glibc_step *step);

#endif

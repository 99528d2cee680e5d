/*
 * What each component leads to, one list after the other in the order of
 * numbers, so that passes over all edges read memory in order.
 *
 * Peeling lists the trees that a tree leads to when it has them at hand
 * (heapwalk/fold/peel.h). These become components when parents are found
 * (heapwalk/fold/components.c). While paths are found (heapwalk/fold/paths.c),
 * private components are left out, and other lists are added.
 *
 * List I is that of the component with I higher numbers: from TARGETS[FIRST[I]]
 * up to TARGETS[FIRST[I + 1]].
 */
#ifndef HEAPWALK_FOLD_LISTS_H
#define HEAPWALK_FOLD_LISTS_H

#include "mu/arena.h"

#define MU_LISTS_AHEAD 32u /* so many targets after the last may be read */

struct mu_lists {
	uint32_t *first; /* NULL: there are no lists */
	uint32_t *targets;
	uint32_t *trees; /* which were peeled: lists 0 to COUNT - 1 */
	uint32_t count;
	uint32_t end;         /* while lists are made: of those so far */
	uint32_t num_targets; /* for which there is room */
};

/*
 * Make room for MAX lists, and for NUM_TARGETS. There are no lists if less
 * would be left of ARENA than folding needs.
 */
void mu_lists_open(struct mu_lists *lists, uint32_t max, size_t num_targets,
    struct mu_arena *arena);

/* True if LIST is that of a tree that was peeled. */
static inline bool
mu_lists_peeled(const struct mu_lists *lists, uint32_t list)
{
	return lists->first != NULL && list < lists->count;
}

/* The targets of TREE, which is peeled, follow. */
static inline void
mu_lists_begin(struct mu_lists *lists, uint32_t tree)
{
	lists->first[lists->count] = lists->end;
	lists->trees[lists->count++] = tree;
}

#endif

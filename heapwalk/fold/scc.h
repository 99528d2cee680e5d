/*
 * Find the strongly connected components of trees.
 *
 * What no cycle leads to is peeled (heapwalk/fold/peel.h), the giant component
 * is found in sweeps (heapwalk/fold/giant_scc.h), and only the rest is searched
 * depth-first, which waits for memory at each step.
 */
#ifndef HEAPWALK_FOLD_SCC_H
#define HEAPWALK_FOLD_SCC_H

#include "heapwalk/fold/lists.h"
#include "heapwalk/fold/trees.h"
#include "mu/bits.h"

/* The component of each tree. Those of a giant one may be left out of OF. */
struct mu_numbers {
	uint32_t *of;
	const uint64_t
	    *left_out;   /* bits of these trees; NULL: there are none */
	uint32_t *ranks; /* entries before those of 64 trees */
	uint32_t other;  /* the component of those that are left out */
};

struct mu_scc {
	struct mu_numbers numbers;
	uint32_t num_components;
	uint32_t num_searched; /* of them; each of the others is one tree */
	const uint64_t
	    *giant; /* bits of the giant component's trees; or NULL */
	const uint64_t *below; /* and of those that it leads to */
	uint32_t giant_lowest; /* the lowest of it, if it is an owner that all
				  of BELOW belong to; or MU_NO_NODE */
	uint32_t giant_number; /* of its component */
	bool ends;             /* it leads to nothing else */
	struct mu_lists lists; /* of trees that trees which were peeled lead to
				*/

	/* Two pieces of memory that are free again, with room for COUNT. */
	struct {
		uint32_t *room;
		uint32_t count;
	} spare[2];
};

/* The index in NUMBERS->of of a TREE that is not left out. */
static inline uint32_t
mu_number_index(const struct mu_numbers *numbers, uint32_t tree)
{
	uint64_t before = (1ull << (tree % 64)) - 1;

	if (numbers->left_out == NULL)
		return tree;
	return numbers->ranks[tree / 64] +
	    mu_popcount(~numbers->left_out[tree / 64] & before);
}

/* True if TREE is left out. */
static inline bool
mu_number_left_out(const struct mu_numbers *numbers, uint32_t tree)
{
	return numbers->left_out != NULL && mu_bit(numbers->left_out, tree);
}

/* The component of TREE. */
static inline uint32_t
mu_number(const struct mu_numbers *numbers, uint32_t tree)
{
	return mu_number_left_out(numbers, tree)
	    ? numbers->other
	    : numbers->of[mu_number_index(numbers, tree)];
}

/*
 * Number the components: edges between them go from higher to lower numbers.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT.
 */
enum mu_status mu_scc_find(struct mu_scc *scc, const struct mu_trees *trees,
    struct mu_arena *arena, struct mu_deadline *deadline);

#endif

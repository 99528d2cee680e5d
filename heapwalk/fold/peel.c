#include "heapwalk/fold/peel.h"

#include <string.h>

/* Values of ways. */
#define PEELED 0xffu
#define MANY 0xfeu /* too many to count: the tree stays */

#define SWEEP_SHARE 256 /* a sweep that peels fewer is the last */
#define GROUP 8         /* trees whose ways are looked at together */
#define CHARGED 4096    /* trees; a multiple of GROUP */

/* Call VISIT for the target of each edge of TREE. */
static inline __attribute__((always_inline)) void
each_target(struct mu_peel *peel, uint32_t tree,
    void (*visit)(struct mu_peel *peel, uint32_t target))
{
	struct mu_tree_edges edges;
	const uint32_t *at;
	uint32_t target;

	if (mu_tree_edges_stored(peel->trees, tree, &at, &target)) {
		for (; at != NULL; at = *at & MU_TARGET_LAST ? NULL : at + 1)
			visit(peel, *at & ~MU_TARGET_LAST);
		return;
	}
	mu_tree_edges_open(&edges, peel->trees, tree, peel->deadline);
	while (mu_tree_edges_next(&edges, &target))
		visit(peel, target);
}

/* No branch on the value, which cannot be predicted. */
static inline void
add_way(struct mu_peel *peel, uint32_t target)
{
	peel->ways[target] += peel->ways[target] < MANY;
}

static inline void
remove_way(struct mu_peel *peel, uint32_t target)
{
	peel->ways[target] -= peel->ways[target] < MANY;
}

static inline void
peel_tree(struct mu_peel *peel, uint32_t tree)
{
	peel->ways[tree] = PEELED;
	peel->of[tree] = peel->next--;
	each_target(peel, tree, remove_way);
}

/* True if some of the ways of the GROUP trees from FIRST on is 0. */
static inline bool
some_free(const struct mu_peel *peel, uint32_t first)
{
	uint64_t ways;

	memcpy(&ways, &peel->ways[first], sizeof(ways));
	return ((ways - 0x0101010101010101u) & ~ways & 0x8080808080808080u) !=
	    0;
}

/* From the first tree to the last, or DOWN. Returns how many were peeled. */
static uint32_t
sweep(struct mu_peel *peel, bool down)
{
	uint32_t num_trees = peel->trees->num_trees, before = peel->next;
	uint32_t groups = (num_trees + GROUP - 1) / GROUP, i, first, k, tree;

	for (i = 0; i < groups; i++) {
		first = GROUP * (down ? groups - 1 - i : i);
		if (first % CHARGED == 0 &&
		    mu_deadline_passed(peel->deadline, CHARGED))
			break;
		if (!some_free(peel, first))
			continue;
		for (k = 0; k < GROUP; k++) {
			tree = first + (down ? GROUP - 1 - k : k);
			if (peel->ways[tree] == 0)
				peel_tree(peel, tree);
		}
	}
	return before - peel->next;
}

enum mu_status
mu_peel_open(
    struct mu_peel *peel, const struct mu_trees *trees, struct mu_arena *arena)
{
	uint32_t tree;

	peel->trees = trees;
	peel->left = trees->num_trees;
	peel->ways =
	    mu_arena_alloc_table(arena, (size_t)trees->num_trees + GROUP, 1);
	if (peel->ways == NULL)
		return MU_ERR_NO_MEMORY;
	memset(&peel->ways[trees->num_trees], PEELED, GROUP);
	for (tree = 0; tree < trees->num_trees; tree++) {
		if (tree % CHARGED == 0 &&
		    mu_deadline_passed(peel->deadline, CHARGED))
			break;
		each_target(peel, tree, add_way);
	}
	return peel->deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}

void
mu_peel(struct mu_peel *peel)
{
	uint32_t count, least = peel->trees->num_trees / SWEEP_SHARE;
	bool down = false;

	do {
		count = sweep(peel, down);
		peel->left -= count;
		down = !down;
	} while (count > least && !peel->deadline->passed);
}

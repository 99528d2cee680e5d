#include "heapwalk/fold/peel.h"

#include <string.h>

#include "heapwalk/fold/ahead.h"

/* Values of ways. */
#define PEELED 0xffu
#define MANY 0xfeu /* too many to count: the tree stays */

#define SWEEP_SHARE 256 /* a sweep that peels fewer is the last */
#define GROUP 8         /* trees whose ways are looked at together */
#define CHARGED 4096    /* trees; a multiple of GROUP */

/*
 * Of the tree so many steps from the head of the ring, the cell is called for,
 * then the edges; then these are listed, and the ways of its targets are called
 * for. FAR trees stay in the ring.
 */
#define FAR 48u
#define NEAR 32u
#define NEXT 16u

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
	peel->num_edges++;
}

/* A tree for which the ring has no room is found by a later sweep. */
static inline void
remove_way(struct mu_peel *peel, uint32_t target)
{
	uint8_t ways = peel->ways[target];
	bool add;

	ways -= ways < MANY;
	add = ways == 0 && peel->tail - peel->head < MU_PEEL_RING - 1;
	peel->ring[peel->tail % MU_PEEL_RING] = target;
	peel->tail += add;
	peel->ways[target] = add ? PEELED : ways;
}

/* The tree that is so many steps AHEAD; MU_NO_NODE if that is not known. */
static inline uint32_t
tree_ahead(const struct mu_peel *peel, uint32_t ahead)
{
	return peel->tail - peel->head > ahead
	    ? peel->ring[(peel->head + ahead) % MU_PEEL_RING]
	    : MU_NO_NODE;
}

MU_AHEAD_INLINE void
call_ahead(const struct mu_peel *peel)
{
	const struct mu_lost *lost = peel->trees->lost;
	uint32_t far = tree_ahead(peel, FAR), near = tree_ahead(peel, NEAR);

	if (peel->trees->of != NULL || lost->cells == NULL)
		return;
	if (far != MU_NO_NODE) {
		__builtin_prefetch(&lost->cells[far]);
		__builtin_prefetch(&peel->of[far], 1);
	}
	if (near != MU_NO_NODE)
		mu_ahead_cell(lost, near);
}

static inline void
add_to_list(struct mu_peel *peel, uint32_t target)
{
	__builtin_prefetch(&peel->ways[target], 1);
	peel->lists->targets[peel->lists->end++] = target;
}

/* List what the next trees in the ring lead to, and call for its ways. */
static inline void
list_ahead(struct mu_peel *peel)
{
	uint32_t tree, end = peel->head + NEXT;

	for (; peel->listed != peel->tail && peel->listed != end;
	     peel->listed++) {
		tree = peel->ring[peel->listed % MU_PEEL_RING];
		mu_lists_begin(peel->lists, tree);
		each_target(peel, tree, add_to_list);
	}
	peel->lists->first[peel->lists->count] = peel->lists->end;
}

/* The next tree was peeled: its targets have one way less. */
static inline void
remove_ways(struct mu_peel *peel, uint32_t tree)
{
	const struct mu_lists *lists = peel->lists;
	uint32_t list = peel->trees->num_trees - peel->left;
	const uint32_t *at, *end;

	if (lists->first == NULL) {
		each_target(peel, tree, remove_way);
		return;
	}
	at = &lists->targets[lists->first[list]];
	for (end = &lists->targets[lists->first[list + 1]]; at < end; at++)
		remove_way(peel, *at);
}

/* Peel trees until LEFT are in the ring. */
static void
peel_down_to(struct mu_peel *peel, uint32_t left)
{
	uint32_t tree;

	while (peel->tail - peel->head > left &&
	    !mu_deadline_passed(peel->deadline, 8)) {
		call_ahead(peel);
		if (peel->lists->first != NULL)
			list_ahead(peel);
		tree = peel->ring[peel->head++ % MU_PEEL_RING];
		peel->of[tree] = peel->next--;
		remove_ways(peel, tree);
		peel->left--;
	}
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

/* From the first tree to the last. Returns how many were peeled. */
static uint32_t
sweep(struct mu_peel *peel)
{
	uint32_t num_trees = peel->trees->num_trees, left = peel->left;
	uint32_t first, tree;

	for (first = 0; first < num_trees; first += GROUP) {
		if (first % CHARGED == 0)
			mu_deadline_passed(peel->deadline, CHARGED);
		if (!some_free(peel, first))
			continue;
		for (tree = first; tree < first + GROUP; tree++) {
			if (peel->ways[tree] != 0)
				continue;
			peel->ways[tree] = PEELED;
			peel->ring[peel->tail++ % MU_PEEL_RING] = tree;
		}
		peel_down_to(peel, FAR);
		if (peel->deadline->passed)
			break;
	}
	peel_down_to(peel, 0);
	return left - peel->left;
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
	if (peel->deadline->passed)
		return MU_ERR_TIMEOUT;
	if (!trees->lost->graph->reads)
		mu_lists_open(
		    peel->lists, trees->num_trees, peel->num_edges, arena);
	return MU_OK;
}

void
mu_peel(struct mu_peel *peel)
{
	uint32_t least = peel->trees->num_trees / SWEEP_SHARE;

	while (sweep(peel) > least && !peel->deadline->passed)
		;
}

/*
 * Trees of unreachable nodes: sets that are entered at one node only.
 *
 * A node that no node or several nodes lead to is a head; any other belongs to
 * the tree of the only node that leads to it. In a ring that nothing else leads
 * to, some node is made the head. So edges between trees lead to heads, and
 * whatever leads to a head leads to its whole tree: chains, lists and trees of
 * any length are one tree each, and only what is left between the heads has to
 * be searched (heapwalk/fold/components.h).
 */
#ifndef HEAPWALK_FOLD_TREES_H
#define HEAPWALK_FOLD_TREES_H

#include "heapwalk/graph/lost.h"

#define MU_TREE_HEAD 0x40000000u   /* in mu_trees.of: this node is the head */
#define MU_HEAD_LED 0x80000000u    /* in mu_trees.heads: a node leads there */
#define MU_LEADER_LAST 0x80000000u /* in mu_trees.leaders: of its tree */

struct mu_trees {
	const struct mu_lost *lost;
	uint32_t num_trees;
	uint32_t num_sources; /* trees that nothing leads to */

	/* All NULL if most nodes are heads: each is then its own tree. */
	uint32_t *of;    /* tree of each node */
	uint32_t *heads; /* head of each tree */
	/*
	 * The nodes with edges to heads, tree by tree, and for each tree 1 +
	 * the index of the first of them. NULL: there are none.
	 */
	uint32_t *leaders, *first;
};

/*
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT. With LOST->trees_only OF may replace the
 * cells: there are then no edges any more, and no leaders.
 */
enum mu_status mu_trees_find(
    struct mu_trees *trees, struct mu_lost *lost, struct mu_deadline *deadline);

/* The tree that NODE belongs to. */
static inline uint32_t
mu_tree_of(const struct mu_trees *trees, uint32_t node)
{
	return trees->of != NULL ? trees->of[node] & ~MU_TREE_HEAD : node;
}

/* The node that is the head of TREE. */
static inline uint32_t
mu_tree_head(const struct mu_trees *trees, uint32_t tree)
{
	return trees->heads != NULL ? trees->heads[tree] & ~MU_HEAD_LED : tree;
}

/* True if TARGET is a head. *TREE is its tree in any case. */
static inline bool
mu_tree_entered(const struct mu_trees *trees, uint32_t target, uint32_t *tree)
{
	*tree = mu_tree_of(trees, target);
	return trees->of == NULL || (trees->of[target] & MU_TREE_HEAD) != 0;
}

/*
 * The index of the first node of TREE that may have edges to heads; MU_NO_NODE
 * if there is none.
 */
static inline uint32_t
mu_tree_first(const struct mu_trees *trees, uint32_t tree)
{
	if (trees->of != NULL)
		return trees->first != NULL ? trees->first[tree] - 1
					    : MU_NO_NODE;
	return mu_edges_none(trees->lost, tree) ? MU_NO_NODE : tree;
}

/* The node at INDEX. */
static inline uint32_t
mu_tree_leader(const struct mu_trees *trees, uint32_t index)
{
	return trees->leaders != NULL ? trees->leaders[index] & ~MU_LEADER_LAST
				      : index;
}

/* The next index of the same tree. */
static inline uint32_t
mu_tree_next(const struct mu_trees *trees, uint32_t index)
{
	return trees->leaders != NULL &&
		(trees->leaders[index] & MU_LEADER_LAST) == 0
	    ? index + 1
	    : MU_NO_NODE;
}

/* The edges that lead out of a tree, to heads: all of them, node by node. */
struct mu_tree_edges {
	const struct mu_trees *trees;
	struct mu_edges edges;
	uint32_t index; /* of the current edges' node; MU_NO_NODE at the end */
};

/* Begin with the first edge of the node at INDEX, unless that is MU_NO_NODE. */
static inline void
mu_tree_edges_at(
    struct mu_tree_edges *edges, uint32_t index, struct mu_deadline *deadline)
{
	const struct mu_lost *lost = edges->trees->lost;
	uint32_t node;

	edges->index = index;
	if (index == MU_NO_NODE)
		return;
	node = mu_tree_leader(edges->trees, index);
	mu_edges_open(
	    &edges->edges, lost, node, mu_edges_first(lost, node), deadline);
}

/*
 * Begin with the first edge of TREE. TREES and DEADLINE must outlive EDGES;
 * nothing has to be closed.
 */
static inline void
mu_tree_edges_open(struct mu_tree_edges *edges, const struct mu_trees *trees,
    uint32_t tree, struct mu_deadline *deadline)
{
	edges->trees = trees;
	mu_tree_edges_at(edges, mu_tree_first(trees, tree), deadline);
}

/* Get the tree *TARGET of the next edge; false after the last. */
static inline bool
mu_tree_edges_next(struct mu_tree_edges *edges, uint32_t *target)
{
	const struct mu_trees *trees = edges->trees;
	uint32_t node;

	while (edges->index != MU_NO_NODE) {
		while (mu_edges_next(&edges->edges, &node))
			if (mu_tree_entered(trees, node, target))
				return true;
		mu_tree_edges_at(edges, mu_tree_next(trees, edges->index),
		    edges->edges.deadline);
	}
	return false;
}

/*
 * The edges of TREE, if they are stored and each node is a tree: *AT is as for
 * mu_edges_stored(). False: use mu_tree_edges_next().
 */
static inline bool
mu_tree_edges_stored(const struct mu_trees *trees, uint32_t tree,
    const uint32_t **at, uint32_t *one)
{
	const struct mu_lost *lost = trees->lost;

	if (trees->of != NULL || lost->cells == NULL ||
	    lost->cells[tree] == MU_CELL_READ)
		return false;
	*at = mu_edges_stored(lost, tree, one);
	return true;
}

#endif

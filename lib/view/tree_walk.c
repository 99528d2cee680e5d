/*
 * The way through a tree of calls, without recursion: see tree.h.
 *
 * Pure.
 */
#include "lib/view/saturate.h"
#include "lib/view/tree.h"

static enum mu_tree_event
leave(struct mu_tree_walk *walk)
{
	if (walk->depth == 0)
		return MU_TREE_END;
	walk->going = MU_WALK_UP;
	return MU_TREE_LEAVE;
}

/* Children that are not shown come behind those that are. */
static bool
sum_pruned(struct mu_tree_walk *walk, const struct mu_tree_node *node)
{
	const struct mu_tree *tree = walk->tree;
	const struct mu_tree_node *child;
	size_t *next = &walk->next[walk->depth];

	walk->bytes = walk->blocks = 0;
	walk->branches = node->num_children - *next;
	for (; *next < node->num_children; ++*next) {
		child = &tree->nodes[tree->order[node->first + *next]];
		walk->bytes = mu_saturated_add(walk->bytes, child->bytes);
		walk->blocks = mu_saturated_add(walk->blocks, child->blocks);
	}
	return walk->branches > 0;
}

static enum mu_tree_event
go_on(struct mu_tree_walk *walk)
{
	const struct mu_tree *tree = walk->tree;
	const struct mu_tree_node *node = &tree->nodes[walk->node];
	size_t *next = &walk->next[walk->depth], child;

	if (*next < node->num_children) {
		child = tree->order[node->first + *next];
		if (tree->nodes[child].shown) {
			++*next;
			walk->node = child;
			walk->next[++walk->depth] = 0;
			walk->going = MU_WALK_DOWN;
			return MU_TREE_ENTER;
		}
	}
	return sum_pruned(walk, node) ? MU_TREE_PRUNED : leave(walk);
}

enum mu_tree_event
mu_tree_step(struct mu_tree_walk *walk)
{
	const struct mu_tree_node *node;

	if (walk->going == MU_WALK_UP) {
		walk->node = walk->tree->nodes[walk->node].parent;
		walk->depth--;
		walk->going = MU_WALK_CHILDREN;
	}
	if (walk->going == MU_WALK_DOWN) {
		node = &walk->tree->nodes[walk->node];
		walk->going = MU_WALK_CHILDREN;
		walk->bytes = node->own_bytes;
		walk->blocks = node->own_blocks;
		if ((walk->bytes > 0 || walk->blocks > 0) &&
		    (node->num_children > 0 || walk->depth == 0))
			return MU_TREE_OWN;
	}
	return go_on(walk);
}

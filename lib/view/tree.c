/*
 * Records are sorted by stack, so that a node's children come one after the
 * other: each record is compared only with the path of the one before.
 */
#include "lib/view/tree.h"

#include <stdlib.h>

#include "lib/view/saturate.h"
#include "mu/array.h"

#define FRAMES_PER_BRANCH 32 /* shown on average: limits the output */

/* Sort key of a node. */
struct rank {
	const struct mu_tree_node *node;
	size_t index;
};

/* Walk a tree of calls without recursion: see tree.h. */

static enum mu_tree_event
leave(struct mu_tree_walk *walk)
{
	if (walk->depth == 0)
		return MU_TREE_END;
	walk->going = MU_WALK_UP;
	return MU_TREE_LEAVE;
}

/* Children that are not shown come after those that are. */
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

static int
compare_records(const void *a, const void *b)
{
	const struct mu_record_ref *x = a, *y = b;

	return mu_record_compare_outer(x->record, y->record);
}

/* The wanted records, by stack; NULL without memory. */
static struct mu_record_ref *
sort_records(struct mu_tree *tree, const struct mu_records *records, bool own)
{
	struct mu_record_ref *sorted =
	    calloc(records->count + 1, sizeof(*sorted));
	size_t i;

	if (sorted == NULL)
		return NULL;
	for (i = 0; i < records->count; i++) {
		if (records->list[i].own == own)
			sorted[tree->num_records++].record = &records->list[i];
	}
	qsort(sorted, tree->num_records, sizeof(*sorted), compare_records);
	return sorted;
}

/* Returns false without memory. */
static bool
add_node(struct mu_tree *tree, size_t parent, size_t frame)
{
	if (!mu_array_room(tree->nodes, tree->count, tree->max, 128, SIZE_MAX))
		return false;
	tree->nodes[tree->count++] =
	    (struct mu_tree_node) { .parent = parent, .frame = frame };
	return true;
}

static void
count_bytes(struct mu_tree_node *node, const struct mu_record *record)
{
	node->bytes = mu_saturated_add(node->bytes, record->bytes);
	node->blocks = mu_saturated_add(node->blocks, record->count);
}

/*
 * PATH has the nodes of the last record; the first LENGTH, including the root,
 * belong to this one too.
 */
static bool
add_record(struct mu_tree *tree, const struct mu_record *record, size_t *path,
    size_t length)
{
	struct mu_tree_node *node;
	size_t i;

	for (; length <= record->num_frames; length++) {
		if (!add_node(tree, path[length - 1],
			record->frames[record->num_frames - length]))
			return false;
		path[length] = tree->count - 1;
	}
	for (i = 0; i < length; i++)
		count_bytes(&tree->nodes[path[i]], record);
	node = &tree->nodes[path[length - 1]];
	tree->num_stacks += node->own_blocks == 0 && node->own_bytes == 0;
	node->own_bytes = mu_saturated_add(node->own_bytes, record->bytes);
	node->own_blocks = mu_saturated_add(node->own_blocks, record->count);
	return true;
}

/* The number of nodes that two records share, including the root. */
static size_t
common(const struct mu_record *a, const struct mu_record *b)
{
	size_t i = a->num_frames, j = b->num_frames, length = 1;

	while (i > 0 && j > 0 && a->frames[--i] == b->frames[--j])
		length++;
	return length;
}

static bool
add_records(struct mu_tree *tree, const struct mu_record_ref *sorted)
{
	size_t path[MU_RECORD_FRAMES + 1] = { 0 }, i, length = 1;

	if (!add_node(tree, 0, MU_TREE_NO_FRAME))
		return false;
	for (i = 0; i < tree->num_records; i++) {
		if (i > 0)
			length = common(sorted[i - 1].record, sorted[i].record);
		if (!add_record(tree, sorted[i].record, path, length))
			return false;
	}
	return true;
}

/* The larger first; of equal ones the one with more blocks. */
static int
compare_sizes(const struct mu_tree_node *a, const struct mu_tree_node *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks ? -1 : 1;
	return 0;
}

/* Sort by parent. */
static int
compare_siblings(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order;

	if (x->node->parent != y->node->parent)
		return x->node->parent < y->node->parent ? -1 : 1;
	order = compare_sizes(x->node, y->node);
	if (order == 0)
		order = (x->index > y->index) - (x->index < y->index);
	return order;
}

static int
compare_branches(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = compare_sizes(x->node, y->node);

	if (order == 0)
		order = (x->index > y->index) - (x->index < y->index);
	return order;
}

/* Keys of all nodes but the root. NULL without memory. */
static struct rank *
rank_nodes(
    const struct mu_tree *tree, int (*compare)(const void *a, const void *b))
{
	struct rank *ranks = calloc(tree->count, sizeof(*ranks));
	size_t i;

	if (ranks == NULL)
		return NULL;
	for (i = 1; i < tree->count; i++)
		ranks[i - 1] = (struct rank) { &tree->nodes[i], i };
	qsort(ranks, tree->count - 1, sizeof(*ranks), compare);
	return ranks;
}

static bool
order_children(struct mu_tree *tree)
{
	struct rank *ranks = rank_nodes(tree, compare_siblings);
	struct mu_tree_node *parent;
	size_t i;

	tree->order = calloc(tree->count, sizeof(*tree->order));
	if (ranks == NULL || tree->order == NULL) {
		free(ranks);
		return false;
	}
	for (i = 0; i + 1 < tree->count; i++) {
		tree->order[i] = ranks[i].index;
		parent = &tree->nodes[ranks[i].node->parent];
		if (parent->num_children++ == 0)
			parent->first = i;
	}
	free(ranks);
	return true;
}

bool
mu_tree_build(struct mu_tree *tree, const struct mu_records *records, bool own)
{
	struct mu_record_ref *sorted;
	bool built;

	*tree = (struct mu_tree) { 0 };
	sorted = sort_records(tree, records, own);
	if (sorted == NULL)
		return false;
	built = add_records(tree, sorted) && order_children(tree);
	free(sorted);
	return built;
}

bool
mu_tree_continues(const struct mu_tree *tree, size_t node)
{
	const struct mu_tree_node *parent =
	    &tree->nodes[tree->nodes[node].parent];

	return parent->num_children == 1 && tree->nodes[node].parent != 0 &&
	    parent->own_bytes == 0 && parent->own_blocks == 0;
}

/*
 * A parent is at least as large as its children and before them, so it is
 * chosen whenever one of them is. The nodes of a branch are chosen together, as
 * far as there is room.
 */
static void
show_nodes(struct mu_tree *tree, const struct rank *ranks, size_t limit)
{
	size_t i, branches = 0, frames = 0, most;
	struct mu_tree_node *node;

	most = mu_saturated_mul(limit, FRAMES_PER_BRANCH);
	tree->nodes[0].shown = true;
	for (i = 0; i + 1 < tree->count && frames < most; i++) {
		node = &tree->nodes[ranks[i].index];
		if (!mu_tree_continues(tree, ranks[i].index) &&
		    branches++ >= limit)
			continue;
		node->shown = tree->nodes[node->parent].shown;
		frames += node->shown;
	}
}

bool
mu_tree_prune(struct mu_tree *tree, size_t limit)
{
	struct rank *ranks = rank_nodes(tree, compare_branches);

	if (ranks == NULL)
		return false;
	show_nodes(tree, ranks, limit);
	free(ranks);
	return true;
}

void
mu_tree_release(struct mu_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
	*tree = (struct mu_tree) { 0 };
}

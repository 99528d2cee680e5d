/*
 * Stacks are sorted, so that a node's children come one after the other: each
 * stack is compared only with the one before. They are read twice, to find the
 * largest branches and to make their nodes, so that memory grows with what is
 * shown, and not with the number of stacks.
 */
#include "lib/view/tree.h"

#include <stdlib.h>

#include "lib/view/saturate.h"
#include "lib/view/stack_key.h"
#include "mu/array.h"

#define FRAMES_PER_BRANCH 32 /* shown on average: limits the output */

/* Sort key of a node; INDEX is its number in the order of stacks. */
struct rank {
	uint64_t bytes, blocks;
	size_t index, node;
};

/* A node on the way to the end of the current stack. */
struct level {
	size_t frame, index;
	size_t node; /* in the tree; NO_NODE */
	uint64_t bytes, blocks, own_bytes, own_blocks;
	size_t num_children;
	struct rank first; /* child */
	bool maybe; /* the node, a first child, is kept if no other comes */
};

#define NO_NODE SIZE_MAX

struct builder {
	struct mu_tree *tree;
	size_t limit;
	struct level levels[MU_RECORD_FRAMES + 1]; /* the root first */
	size_t depth, num_nodes;
	struct rank *branches; /* the largest ones so far, and some others */
	size_t num_branches, max_branches;
	bool making; /* nodes; otherwise branches are looked for */
	size_t next; /* branch to be made, by index */
	bool no_memory;
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

	if (*next > node->num_made)
		return false;
	walk->bytes = node->rest_bytes;
	walk->blocks = node->rest_blocks;
	walk->branches = node->num_children - *next;
	for (; *next < node->num_made; ++*next) {
		child = &tree->nodes[tree->order[node->first + *next]];
		walk->bytes = mu_saturated_add(walk->bytes, child->bytes);
		walk->blocks = mu_saturated_add(walk->blocks, child->blocks);
	}
	*next = node->num_made + 1; /* they were met */
	return walk->branches > 0;
}

static enum mu_tree_event
go_on(struct mu_tree_walk *walk)
{
	const struct mu_tree *tree = walk->tree;
	const struct mu_tree_node *node = &tree->nodes[walk->node];
	size_t *next = &walk->next[walk->depth], child;

	if (*next < node->num_made) {
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

bool
mu_tree_add(struct mu_sorter *stacks, const struct mu_record *record)
{
	unsigned char key[MU_SORTER_KEY_MAX];
	const unsigned char *end =
	    mu_stack_key_put(key, record->frames, record->num_frames, true);

	return mu_sorter_add(
	    stacks, key, (size_t)(end - key), record->bytes, record->count);
}

/* The larger first; of equal ones the one with more blocks. */
static int
compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int
compare_indices(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static void
keep_largest(struct builder *builder)
{
	if (builder->num_branches == 0)
		return;
	qsort(builder->branches, builder->num_branches,
	    sizeof(*builder->branches), compare_ranks);
	if (builder->num_branches > builder->limit)
		builder->num_branches = builder->limit;
}

/* A node is the beginning of a branch. */
static void
take_branch(struct builder *builder, struct rank rank)
{
	if (builder->making || builder->limit == 0)
		return;
	if (builder->num_branches / 2 >= builder->limit)
		keep_largest(builder);
	if (!mu_array_room(builder->branches, builder->num_branches,
		builder->max_branches, 128, SIZE_MAX)) {
		builder->no_memory = true;
		return;
	}
	builder->branches[builder->num_branches++] = rank;
}

static void
add_node(struct builder *builder, struct level *level, size_t parent)
{
	struct mu_tree *tree = builder->tree;

	if (!mu_array_room(
		tree->nodes, tree->count, tree->max, 128, SIZE_MAX)) {
		builder->no_memory = true;
		return;
	}
	level->node = tree->count;
	tree->nodes[tree->count++] = (struct mu_tree_node) {
		.parent = parent,
		.frame = level->frame,
	};
}

static bool
is_branch_to_make(struct builder *builder, size_t index)
{
	while (builder->next < builder->num_branches &&
	    builder->branches[builder->next].index < index)
		builder->next++;
	return builder->next < builder->num_branches &&
	    builder->branches[builder->next].index == index;
}

/* A child of LEVEL's node that is not made. */
static void
add_rest(struct builder *builder, const struct level *level, struct rank child)
{
	struct mu_tree_node *node;

	if (level->node == NO_NODE)
		return;
	node = &builder->tree->nodes[level->node];
	node->rest_bytes = mu_saturated_add(node->rest_bytes, child.bytes);
	node->rest_blocks = mu_saturated_add(node->rest_blocks, child.blocks);
}

/* The only child of a node with nothing of its own continues its branch. */
static bool
may_continue(const struct builder *builder, const struct level *parent)
{
	return parent != builder->levels && parent->num_children == 1 &&
	    parent->own_bytes == 0 && parent->own_blocks == 0;
}

/* PARENT gets a second child, so the first one begins a branch. */
static void
part_first(struct builder *builder, const struct level *parent)
{
	struct mu_tree *tree = builder->tree;

	if (!builder->making) {
		take_branch(builder, parent->first);
	} else if (parent->first.node != NO_NODE) {
		/* It and what is below it were made last. */
		tree->count = parent->first.node;
		add_rest(builder, parent, parent->first);
	}
}

static void
open_level(struct builder *builder, size_t frame)
{
	struct level *parent = &builder->levels[builder->depth];
	struct level *level = &builder->levels[++builder->depth];

	*level = (struct level) {
		.frame = frame,
		.index = builder->num_nodes++,
		.node = NO_NODE,
	};
	if (may_continue(builder, parent))
		part_first(builder, parent);
	parent->num_children++;
	if (!builder->making || parent->node == NO_NODE)
		return;
	if (is_branch_to_make(builder, level->index))
		add_node(builder, level, parent->node);
	else if (may_continue(builder, parent)) {
		level->maybe = true;
		add_node(builder, level, parent->node);
	}
}

static void
fill_node(const struct builder *builder, const struct level *level)
{
	struct mu_tree_node *node = &builder->tree->nodes[level->node];

	node->bytes = level->bytes;
	node->blocks = level->blocks;
	node->own_bytes = level->own_bytes;
	node->own_blocks = level->own_blocks;
	node->num_children = level->num_children;
	node->continues = level->maybe;
}

static void
close_level(struct builder *builder)
{
	struct level *level = &builder->levels[builder->depth], *parent;
	struct rank rank = { level->bytes, level->blocks, level->index,
		level->maybe ? level->node : NO_NODE };

	if (level->node != NO_NODE)
		fill_node(builder, level);
	if (builder->depth == 0)
		return;
	parent = &builder->levels[--builder->depth];
	parent->bytes = mu_saturated_add(parent->bytes, level->bytes);
	parent->blocks = mu_saturated_add(parent->blocks, level->blocks);
	if (level->node == NO_NODE)
		add_rest(builder, parent, rank);
	if (may_continue(builder, parent))
		parent->first = rank;
	else
		take_branch(builder, rank);
}

static void
add_own(struct builder *builder, const uint64_t values[2])
{
	struct level *level = &builder->levels[builder->depth];

	level->own_bytes = values[0];
	level->own_blocks = values[1];
	level->bytes = mu_saturated_add(level->bytes, values[0]);
	level->blocks = mu_saturated_add(level->blocks, values[1]);
}

/* FRAMES, the outermost first: leave the one before, where they part. */
static void
read_stack(struct builder *builder, const uintptr_t *frames, size_t count)
{
	size_t shared = 0;

	while (shared < count && shared < builder->depth &&
	    builder->levels[shared + 1].frame == frames[shared])
		shared++;
	while (builder->depth > shared)
		close_level(builder);
	while (builder->depth < count)
		open_level(builder, frames[builder->depth]);
}

static void
read_stacks(struct builder *builder, struct mu_sorter *stacks)
{
	uintptr_t frames[MU_RECORD_FRAMES];
	struct mu_sorted stack;
	size_t count;

	builder->levels[0] = (struct level) {
		.frame = MU_TREE_NO_FRAME,
		.node = NO_NODE,
	};
	builder->depth = 0;
	builder->num_nodes = 1;
	builder->tree->num_stacks = 0;
	if (builder->making)
		add_node(builder, builder->levels, 0);
	mu_sorter_begin(stacks);
	while (!builder->no_memory && mu_sorter_next(stacks, &stack)) {
		mu_stack_key_take(stack.key, frames, &count);
		read_stack(builder, frames, count);
		add_own(builder, stack.values);
		builder->tree->num_stacks++;
	}
	while (builder->depth > 0)
		close_level(builder);
	close_level(builder);
}

/* Keys of all nodes but the root, by COMPARE. NULL without memory. */
static struct rank *
rank_nodes(
    const struct mu_tree *tree, int (*compare)(const void *a, const void *b))
{
	struct rank *ranks = calloc(tree->count + 1, sizeof(*ranks));
	const struct mu_tree_node *node;
	size_t i;

	if (ranks == NULL)
		return NULL;
	for (i = 1; i < tree->count; i++) {
		node = &tree->nodes[i];
		ranks[i - 1] =
		    (struct rank) { node->bytes, node->blocks, i, i };
	}
	qsort(ranks, tree->count - 1, sizeof(*ranks), compare);
	return ranks;
}

/*
 * A parent is at least as large as its children and before them, so it is
 * chosen whenever one of them is. The nodes of a branch are chosen together, as
 * far as there is room.
 */
static void
show_nodes(struct mu_tree *tree, const struct rank *ranks, size_t limit)
{
	size_t i, frames = 0, most;
	struct mu_tree_node *node;

	most = mu_saturated_mul(limit, FRAMES_PER_BRANCH);
	tree->nodes[0].shown = true;
	for (i = 0; i + 1 < tree->count && frames < most; i++) {
		node = &tree->nodes[ranks[i].index];
		node->shown = tree->nodes[node->parent].shown;
		frames += node->shown;
	}
}

/* Children have the order of RANKS. */
static bool
order_children(struct mu_tree *tree, const struct rank *ranks)
{
	struct mu_tree_node *node, *parent;
	size_t i, first = 0;

	tree->order = calloc(tree->count + 1, sizeof(*tree->order));
	if (tree->order == NULL)
		return false;
	for (i = 1; i < tree->count; i++)
		tree->nodes[tree->nodes[i].parent].num_made++;
	for (i = 0; i < tree->count; i++) {
		node = &tree->nodes[i];
		node->first = first;
		first += node->num_made;
		node->num_made = 0;
	}
	for (i = 0; i + 1 < tree->count; i++) {
		parent = &tree->nodes[tree->nodes[ranks[i].index].parent];
		tree->order[parent->first + parent->num_made++] =
		    ranks[i].index;
	}
	return true;
}

static bool
finish(struct mu_tree *tree, size_t limit)
{
	struct rank *ranks = rank_nodes(tree, compare_ranks);
	bool done = ranks != NULL && order_children(tree, ranks);

	if (done)
		show_nodes(tree, ranks, limit);
	free(ranks);
	return done;
}

enum mu_status
mu_tree_build(struct mu_tree *tree, struct mu_sorter *stacks, size_t limit,
    struct mu_why *why)
{
	struct builder builder = { .tree = tree, .limit = limit };
	enum mu_status status;

	*tree = (struct mu_tree) { 0 };
	read_stacks(&builder, stacks);
	keep_largest(&builder);
	if (builder.num_branches > 0)
		qsort(builder.branches, builder.num_branches,
		    sizeof(*builder.branches), compare_indices);
	builder.making = true;
	status = mu_sorter_end(stacks, why);
	if (status == MU_OK && !builder.no_memory) {
		read_stacks(&builder, stacks);
		status = mu_sorter_end(stacks, why);
	}
	free(builder.branches);
	if (status != MU_OK)
		return status;
	if (builder.no_memory || tree->count == 0 || !finish(tree, limit))
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for a tree");
	return MU_OK;
}

bool
mu_tree_continues(const struct mu_tree *tree, size_t node)
{
	return tree->nodes[node].continues;
}

void
mu_tree_release(struct mu_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
	*tree = (struct mu_tree) { 0 };
}

/*
 * Build a tree of calls from stacks, from the outermost frame down, with the
 * bytes allocated below each; the largest branches of it.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_TREE_H
#define LIB_VIEW_TREE_H

#include "lib/view/records.h"
#include "lib/view/sorter.h"

#define MU_TREE_NO_FRAME SIZE_MAX

struct mu_tree_node {
	size_t parent;          /* 0 for the root */
	size_t frame;           /* its number; MU_TREE_NO_FRAME for the root */
	uint64_t bytes, blocks; /* with everything below; saturated */
	uint64_t own_bytes, own_blocks; /* of stacks that end here */
	size_t num_children;
	size_t first, num_made; /* indices into order, the largest first */
	uint64_t rest_bytes, rest_blocks; /* of children that have no node */
	bool continues; /* the only child of its parent, with all its bytes */
	bool shown;
};

struct mu_tree {
	struct mu_tree_node
	    *nodes; /* parents before children, the root first */
	size_t count, max;
	size_t *order;
	size_t num_stacks; /* different ones */
};

/* Add RECORD, with numbers for frames, to STACKS. False: no memory. */
bool mu_tree_add(struct mu_sorter *stacks, const struct mu_record *record);

/*
 * Build a tree of STACKS, with the LIMIT largest branches. A branch begins at a
 * node with siblings, or with less than its parent; the nodes after it belong
 * to it. MU_OK; MU_ERR_NO_MEMORY, with the cause in WHY. Release TREE in any
 * case.
 */
enum mu_status mu_tree_build(struct mu_tree *tree, struct mu_sorter *stacks,
    size_t limit, struct mu_why *why);

/* Accepts one that is zero. */
void mu_tree_release(struct mu_tree *tree);

/* Events of a walk over the nodes that are shown, without the root. */
enum mu_tree_event {
	MU_TREE_ENTER,  /* node, before its children */
	MU_TREE_OWN,    /* what ends at node, or at the root, although there are
			   children */
	MU_TREE_PRUNED, /* children of node that are not shown */
	MU_TREE_LEAVE,  /* node */
	MU_TREE_END,
};

/* Zero but for the tree at first. */
struct mu_tree_walk {
	const struct mu_tree *tree;
	size_t node;
	size_t depth; /* 1 for the outermost frame */
	/* For OWN and PRUNED. */
	uint64_t bytes, blocks;
	size_t branches;
	enum { MU_WALK_DOWN, MU_WALK_CHILDREN, MU_WALK_UP } going;
	size_t next[MU_RECORD_FRAMES + 2]; /* next child, by depth */
};

enum mu_tree_event mu_tree_step(struct mu_tree_walk *walk);

/* True if NODE is the only child of its parent, with all of its bytes. */
bool mu_tree_continues(const struct mu_tree *tree, size_t node);

#endif

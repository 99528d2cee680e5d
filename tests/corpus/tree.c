/* Binary trees: a whole one is lost, and one branch of a kept one. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct node {
	struct node *left, *right;
	int key;
};

static NOINLINE struct node *
make_tree(int depth)
{
	struct node *node = malloc(sizeof(*node));

	node->key = depth;
	node->left = depth > 0 ? make_tree(depth - 1) : NULL;
	node->right = depth > 0 ? make_tree(depth - 1) : NULL;
	return corpus_use(node);
}

void
corpus_scenario(void)
{
	struct node *kept = make_tree(3);

	corpus_keep(kept);
	corpus_lose("tree");
	make_tree(3);
	corpus_lose("branch");
	free(kept->left->right->left);
	kept->left->right->left = make_tree(2);
	corpus_lose_end();
	corpus_use(kept);
	kept->left->right->left = NULL;
}

// unique_ptr::release() without delete, and a deleter that does not.
#include <memory>

#include "tests/corpus/support/corpus.h"

struct node {
	std::unique_ptr<node> left, right;
	std::unique_ptr<int[]> values { new int[10] };
};

struct forgetful {
	void operator()(node *) const
	{
	}
};

static std::unique_ptr<node> kept;

static NOINLINE std::unique_ptr<node>
make_tree(int depth)
{
	auto tree = std::make_unique<node>();

	if (depth > 0) {
		tree->left = make_tree(depth - 1);
		tree->right = make_tree(depth - 1);
	}
	return tree;
}

static NOINLINE void
lose_trees()
{
	corpus_lose("released");
	corpus_use(make_tree(2).release());
	corpus_lose("forgotten");
	std::unique_ptr<node, forgetful> tree(make_tree(1).release());
	corpus_use(tree.get());
	corpus_lose("branch");
	auto branch = make_tree(1);
	corpus_lose_end();
	kept->left->right = std::move(branch);
	corpus_use(kept->left->right.release());
}

void
corpus_scenario()
{
	kept = make_tree(3);
	kept->left->right.reset();
	lose_trees();
}

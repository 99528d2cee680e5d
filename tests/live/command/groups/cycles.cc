// Loses cycles: of one type, of two, of owners that count, and what is none.
#include <cstdio>
#include <memory>
#include <unistd.h>

#include "tests/support/hide.h"

struct Node {
	Node *next;
	long number;
};
struct Child;
struct Parent {
	long id = 5;
	Child *child = nullptr;
	const char *name = "of a parent";
};
struct Child {
	char kind = 1;
	Parent *owner = nullptr;
	double weight = 1.5;
	long numbers[5] = { 1, 2, 3, 4, 5 };
};
struct Peer {
	std::shared_ptr<Peer> other;
	long number = 7;
};
struct Leaf {
	double values[9] = { 1, 2, 3 };
};
struct Tree {
	long number = 9;
	Leaf *leaf = nullptr;
	const char *name = "of a tree";
	double more[8] = {};
};

static __attribute__((noinline)) void
lose()
{
	for (int i = 0; i < 3; i++) {
		auto node = new Node{ nullptr, 1 };
		node->next = new Node{ node, 2 };
		mu_hide(node);
		auto parent = new Parent;
		parent->child = new Child;
		parent->child->owner = parent;
		mu_hide(parent);
		auto peer = std::make_shared<Peer>();
		peer->other = std::make_shared<Peer>();
		peer->other->other = peer;
		auto tree = new Tree;
		tree->leaf = new Leaf;
		mu_hide(tree);
	}
}

int
main()
{
	char byte;

	lose();
	scrub_stack();
	std::puts("ready");
	std::fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

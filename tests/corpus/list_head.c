/* A list whose head is overwritten; another one that is kept. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct node {
	struct node *next;
	int value;
};

static NOINLINE struct node *
make_list(int n)
{
	struct node *list = NULL, *node;

	while (n-- > 0) {
		node = malloc(sizeof(*node));
		node->value = n;
		node->next = list;
		list = corpus_use(node);
	}
	return list;
}

void
corpus_scenario(void)
{
	corpus_keep(make_list(10));
	corpus_lose("node");
	make_list(10);
}

/* Doubly linked rings: one is lost, one is kept by a node in its middle. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct node {
	struct node *next, *previous;
	char payload[40];
};

static NOINLINE struct node *
make_ring(int n)
{
	struct node *first = calloc(1, sizeof(*first)), *node;

	first->next = first->previous = first;
	while (--n > 0) {
		node = calloc(1, sizeof(*node));
		node->next = first;
		node->previous = first->previous;
		first->previous->next = node;
		first->previous = node;
	}
	return corpus_use(first);
}

void
corpus_scenario(void)
{
	corpus_keep(make_ring(7)->next->next);
	corpus_lose("ring");
	make_ring(7);
	corpus_lose("self");
	make_ring(1);
}

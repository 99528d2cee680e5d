/* A lost and a kept graph share nodes: what both hold is kept. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

#define EDGES 4

struct node {
	struct node *edges[EDGES];
};

static struct node *
make_node(struct node *a, struct node *b)
{
	struct node *node = calloc(1, sizeof(*node));

	node->edges[1] = a;
	node->edges[3] = b;
	return corpus_use(node);
}

static NOINLINE void
make_graphs(void)
{
	struct node *shared = make_node(NULL, NULL), *kept, *lost;

	shared = make_node(shared, NULL);
	kept = make_node(make_node(shared, NULL), shared);
	kept->edges[0] = kept;
	corpus_keep(kept);

	corpus_lose("graph");
	lost = make_node(shared, make_node(kept, NULL));
	lost->edges[1] = make_node(lost, lost->edges[3]);
	lost->edges[0] = make_node(lost->edges[1], shared);
	corpus_lose_end();
}

void
corpus_scenario(void)
{
	make_graphs();
}

/*
 * Lists linked by XOR, as no conservative search can follow: of the kept one
 * only the two ends are seen. What is said to be lost is what can be seen.
 */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct node {
	uintptr_t link;
	long value;
};

static NOINLINE void
make_list(int n)
{
	struct node *head = malloc(sizeof(*head)), *tail, *node;
	uintptr_t before = 0;

	corpus_keep(head);
	tail = head;
	tail->link = 0;
	corpus_lose("transparency");
	while (--n > 0) {
		node = malloc(sizeof(*node));
		tail->link = before ^ (uintptr_t)node ^ 0x5555555555555555;
		before = (uintptr_t)tail;
		node->link = before ^ 0x5555555555555555;
		tail = corpus_use(node);
	}
	corpus_lose_end();
	corpus_keep(tail);
	corpus_kept(tail);
}

void
corpus_scenario(void)
{
	make_list(8);
}

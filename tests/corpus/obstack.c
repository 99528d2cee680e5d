/* Obstacks: chunks in a list that is known by its last one. */
#include <obstack.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static NOINLINE struct obstack *
make_obstack(void)
{
	struct obstack *stack = malloc(sizeof(*stack));
	void **object = NULL, **next;
	int i;

	obstack_init(stack);
	for (i = 0; i < 300; i++) {
		next = obstack_alloc(stack, 100);
		next[0] = object;
		next[1] = i % 10 == 0 ? malloc(30) : NULL;
		object = next;
	}
	return corpus_use(stack);
}

void
corpus_scenario(void)
{
	corpus_keep(make_obstack());
	corpus_lose("obstack");
	make_obstack();
}

/* A header in front of what the program holds: the start is never kept. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct vector {
	size_t size, capacity;
	void *items[];
};

static NOINLINE void **
make_vector(size_t n)
{
	struct vector *v = malloc(sizeof(*v) + n * sizeof(v->items[0]));
	size_t i;

	v->size = v->capacity = n;
	for (i = 0; i < n; i++)
		v->items[i] = malloc(32);
	return corpus_use(v->items);
}

void
corpus_scenario(void)
{
	void **outer;

	corpus_keep(make_vector(6));
	corpus_lose("outer");
	outer = make_vector(2);
	corpus_lose("inner");
	outer[1] = (free(outer[1]), make_vector(3));
	corpus_use(outer);
}

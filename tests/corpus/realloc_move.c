/* Arrays that grow by realloc() and move; the last place is lost. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void **
grow(size_t n)
{
	void **array = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		array = realloc(array, (i + 1) * sizeof(*array));
		array[i] = malloc(8 + i % 64);
	}
	return corpus_use(array);
}

static NOINLINE void
shrink(void)
{
	char *block = malloc(4000);

	block = realloc(block, 100);
	corpus_use(block);
}

void
corpus_scenario(void)
{
	corpus_keep(grow(300));
	corpus_lose("grown");
	grow(300);
	corpus_lose("shrunk");
	shrink();
}

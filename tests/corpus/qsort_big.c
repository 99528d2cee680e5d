/* qsort() of arrays so big that it allocates a buffer. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

struct item {
	long key;
	char *text;
	char ballast[100];
};

static int
by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int
by_pointed(const void *a, const void *b)
{
	return by_key(*(struct item *const *)a, *(struct item *const *)b);
}

static NOINLINE struct item *
sort_items(size_t n)
{
	struct item *items = calloc(n, sizeof(*items));
	size_t i;

	for (i = 0; i < n; i++) {
		items[i].key = (long)(i * 7919 % n);
		items[i].text = malloc(16 + i % 32);
	}
	qsort(items, n, sizeof(*items), by_key);
	return corpus_use(items);
}

static NOINLINE struct item **
sort_pointers(size_t n)
{
	struct item **list = calloc(n, sizeof(*list));
	size_t i;

	for (i = 0; i < n; i++) {
		list[i] = calloc(1, sizeof(**list));
		list[i]->key = (long)(i * 7919 % n);
	}
	qsort(list, n, sizeof(*list), by_pointed);
	return corpus_use(list);
}

void
corpus_scenario(void)
{
	corpus_keep(sort_items(500));
	corpus_keep(sort_pointers(300));
	corpus_lose("item");
	sort_items(500);
	corpus_lose("pointer");
	sort_pointers(300);
}

/* Tables of <search.h>: tsearch(), hsearch_r(), insque(), lsearch(). */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/corpus.h"

struct table {
	void *tree; /* tsearch() puts a colour into the low bit */
	struct hsearch_data hash;
	struct qelem *queue;
};

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static NOINLINE struct table *
make_table(void)
{
	struct table *table = calloc(1, sizeof(*table));
	struct qelem *element, *last = NULL;
	char word[] = "word a";
	ENTRY entry, *found;
	int i;

	if (hcreate_r(20, &table->hash) == 0)
		abort();
	for (i = 0; i < 12; i++) {
		word[5] = (char)('a' + i * 5 % 12);
		tsearch(strdup(word), &table->tree, compare);
		entry.key = strdup(word);
		entry.data = malloc(10);
		if (hsearch_r(entry, ENTER, &found, &table->hash) == 0)
			abort();
		element = calloc(1, sizeof(*element) + 16);
		insque(element, last);
		last = element;
	}
	table->queue = last;
	return corpus_use(table);
}

static NOINLINE void
drop_tree(struct table *table)
{
	corpus_lose("key");
	tsearch(strdup("zz"), &table->tree, compare);
	corpus_lose_end();
	corpus_use(table);
	/* Frees the node, not the key. */
	tdelete("zz", &table->tree, compare);
}

void
corpus_scenario(void)
{
	struct table *kept = make_table();

	corpus_keep(kept);
	drop_tree(kept);
	corpus_lose("table");
	make_table();
}

/* Arrays of pointers: rows, argv-like strings, and elements dropped. */
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE char **
make_array(size_t n)
{
	char **array = malloc((n + 1) * sizeof(*array)), word[32];
	size_t i;

	for (i = 0; i < n; i++) {
		memset(word, 'a' + (int)i, i + 3);
		word[i + 3] = '\0';
		array[i] = strdup(word);
	}
	array[n] = NULL;
	return corpus_use(array);
}

static NOINLINE void
drop_elements(char **array)
{
	corpus_lose("element");
	array[3] = strdup("dropped, as the next takes its place");
	corpus_use(array);
	array[5] = calloc(6, 7);
	corpus_lose_end();
	corpus_use(array);
	array[3] = array[5] = NULL;
}

void
corpus_scenario(void)
{
	char **kept = make_array(9);

	corpus_keep(kept);
	free(kept[3]);
	free(kept[5]);
	drop_elements(kept);
	corpus_lose("array");
	make_array(9);
}

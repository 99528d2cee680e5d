/* glob() without globfree(), wordexp() without wordfree(). */
#include <glob.h>
#include <stdlib.h>
#include <wordexp.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE glob_t *
expand_files(void)
{
	glob_t *found = calloc(1, sizeof(*found));

	if (glob("/proc/self/s*", 0, NULL, found) != 0)
		abort();
	return corpus_use(found);
}

static NOINLINE wordexp_t *
expand_words(void)
{
	wordexp_t *words = calloc(1, sizeof(*words));

	if (wordexp("one \"two three\" /proc/self/m* $((1 + 2))", words,
		WRDE_NOCMD) != 0)
		abort();
	return corpus_use(words);
}

void
corpus_scenario(void)
{
	corpus_keep(expand_files());
	corpus_keep(expand_words());
	corpus_lose("files");
	expand_files();
	corpus_lose("words");
	expand_words();
}

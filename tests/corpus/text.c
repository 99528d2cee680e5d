/* Text that libc allocates: asprintf, getline, strdup, memstream, realpath. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tests/corpus/support/corpus.h"

struct texts {
	char *printed, *line, *copy, *stream, *path, *wide;
};

static NOINLINE struct texts *
make_texts(void)
{
	struct texts *t = calloc(1, sizeof(*t));
	size_t size = 0;
	FILE *f;

	if (asprintf(&t->printed, "%d and %s", 42, "a longer text") < 0)
		abort();
	f = fopen("/proc/self/status", "r");
	if (f == NULL || getline(&t->line, &size, f) < 0)
		abort();
	fclose(f);
	t->copy = strndup("a copy of some of this", 10);
	f = open_memstream(&t->stream, &size);
	fprintf(f, "%300d", 1);
	fclose(f);
	t->path = realpath("/proc/self/../self/../..", NULL);
	t->wide = (char *)wcsdup(L"wide");
	return corpus_use(t);
}

void
corpus_scenario(void)
{
	corpus_keep(make_texts());
	corpus_lose("text");
	make_texts();
}

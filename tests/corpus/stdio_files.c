/*
 * A FILE whose pointer is lost is not: stdio keeps a list of all that are
 * files. A stream in memory is not in it. And a buffer that was given to a
 * FILE is the program's again after fclose().
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void
forget_open_file(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[64];

	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		abort();
}

static NOINLINE void
forget_buffer(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char *buffer, line[64];

	corpus_lose("buffer");
	buffer = malloc(8192);
	corpus_lose_end();
	if (f == NULL || setvbuf(f, buffer, _IOFBF, 8192) != 0 ||
	    fgets(line, sizeof(line), f) == NULL)
		abort();
	fclose(f);
}

static NOINLINE void
forget_memstream(void)
{
	static char *text;
	static size_t size;
	FILE *f;

	corpus_lose("memstream");
	f = open_memstream(&text, &size);

	fputs("in a buffer that only the FILE holds", f);
	fflush(f);
	corpus_lose_end();
	text = NULL;
}

void
corpus_scenario(void)
{
	forget_memstream();
	forget_open_file();
	forget_buffer();
}

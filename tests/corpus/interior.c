/*
 * Only a pointer into the block is left: to its middle, to its last byte, to
 * its end. A pointer to the end does not count; the first two keep the block.
 */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void
make_blocks(void)
{
	char *middle = malloc(200), *last = malloc(24), *end;

	corpus_keep(middle + 104);
	corpus_keep(last + 23);
	corpus_lose("end");
	end = malloc(24); /* a size that malloc does not round up */
	corpus_keep(end + 24);
	corpus_lose_end();
}

static NOINLINE void
make_rounded(void)
{
	/* 20 bytes asked for, 24 given: the end is still within it. */
	char *block = malloc(20);

	corpus_keep(block + 20);
	corpus_lost(block, "rounded");
}

void
corpus_scenario(void)
{
	make_blocks();
	make_rounded();
}

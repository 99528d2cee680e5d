/* Blocks so large that malloc maps them, with small ones behind them. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

#define BIG ((size_t)1 << 20)

static NOINLINE void **
make_big(void)
{
	void **big = calloc(BIG, 1);

	big[0] = malloc(24);
	big[BIG / sizeof(*big) / 2] = calloc(3, BIG / 2);
	big[BIG / sizeof(*big) - 1] = malloc(100);
	return corpus_use(big);
}

static NOINLINE void
grow_big(void)
{
	void **big = make_big();

	big = realloc(big, 3 * BIG); /* mremap() */
	corpus_use(big);
}

void
corpus_scenario(void)
{
	corpus_keep(make_big());
	corpus_keep((char *)make_big() + BIG / 2);
	corpus_lose("big");
	make_big();
	corpus_lose("moved");
	grow_big();
}

/* Aligned blocks, which do not begin where malloc's own do. */
#include <malloc.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void **
make_blocks(void)
{
	void **list = calloc(8, sizeof(*list));

	list[0] = aligned_alloc(64, 128);
	list[1] = memalign(256, 40);
	list[2] = valloc(5000);
	if (posix_memalign(&list[3], 4096, 24) != 0)
		abort();
	list[4] = memalign(1 << 16, 300000);
	list[5] = aligned_alloc(32, 96);
	return corpus_use(list);
}

void
corpus_scenario(void)
{
	corpus_keep(make_blocks());
	corpus_lose("aligned");
	make_blocks();
}

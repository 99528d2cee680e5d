/*
 * The only pointers lie in memory that mmap() gave: private, shared between
 * parent and child, or of a memfd. All of it is the program's memory.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/corpus/support/corpus.h"

static void **places[4];

static NOINLINE void *
make_pair(void)
{
	void **pair = malloc(2 * sizeof(*pair));

	pair[0] = malloc(90);
	pair[1] = NULL;
	return corpus_use(pair);
}

static NOINLINE void
put(int i, int flags, int fd)
{
	places[i] = mmap(NULL, 65536, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (places[i] == MAP_FAILED)
		abort();
	places[i][5000] = make_pair();
}

void
corpus_scenario(void)
{
	int fd = memfd_create("corpus", 0);

	if (ftruncate(fd, 65536) != 0)
		abort();
	put(0, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	put(1, MAP_SHARED | MAP_ANONYMOUS, -1);
	put(2, MAP_SHARED, fd);
	corpus_lose("unmapped");
	put(3, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	corpus_lose_end();
	munmap(places[3], 65536);
}

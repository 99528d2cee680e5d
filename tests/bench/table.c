/* Tables of blocks: see table.h. */
#include "table.h"

#include <sys/mman.h>

void *
bench_map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at != MAP_FAILED ? at : NULL;
}

bool
bench_table_init(struct table *table, size_t room)
{
	table->count = 0;
	table->room = room;
	table->at = bench_map(room * sizeof(*table->at));
	return table->at != NULL;
}

void
bench_table_fini(struct table *table)
{
	if (table->at != NULL)
		munmap(table->at, table->room * sizeof(*table->at));
}

void
bench_table_shuffle(struct table *table, uint64_t *random)
{
	size_t i, other;
	void *block;

	for (i = table->count; i > 1; i--) {
		other = bench_random_below(random, i);
		block = table->at[i - 1];
		table->at[i - 1] = table->at[other];
		table->at[other] = block;
	}
}

/* Addresses of blocks, in mapped memory that is unmapped before a check. */
#ifndef TESTS_BENCH_TABLE_H
#define TESTS_BENCH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "heap.h"

struct table {
	void **at;
	size_t count, room;
};

/* SIZE bytes of zeros, or NULL. */
void *bench_map(size_t size);

bool bench_table_init(struct table *table, size_t room);
void bench_table_fini(struct table *table);
void bench_table_shuffle(struct table *table, uint64_t *random);

/*
 * Links what the program keeps in the plan's shape; the first block leads to
 * all. False if there is no such shape, or no memory.
 */
bool bench_link_kept(
    const struct bench_plan *plan, struct table *kept, uint64_t *random);

/* 8 of 20 lost blocks form a chain, 6 a cycle, and 6 are single. */
void bench_link_lost(struct table *lost);

#endif

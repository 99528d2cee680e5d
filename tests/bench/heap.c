/*
 * The heaps: see heap.h. Addresses are kept in tables that are mapped, not
 * allocated, and unmapped before any check, so that nothing refers to the lost
 * blocks.
 */
#include "heap.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tests/support/hide.h"

#define ARENAS_MAX 64
#define SEEN ((size_t)65536)
#define MMAPPED_FROM ((size_t)128 << 10) /* malloc's threshold, at first */

/* Blocks by what becomes of them. */
struct tables {
	struct table kept, lost, freed;
};

/* The thread that allocates blocks FIRST to END - 1. */
struct maker {
	const struct bench_plan *plan;
	struct tables *tables;
	uint64_t random;
	size_t first, end;
	sem_t made;     /* posted when they are there */
	sem_t *may_end; /* an arena is used again once its thread has ended */
	pthread_t thread;
	bool failed;
};

/* The only reference to all that is reachable. */
static void *volatile root;

const struct bench_plan bench_plan_default = {
	.shape = "graph",
	.blocks = 100000,
	.edges = 3,
	.min_size = 16,
	.lost_every = 100,
	.arenas = 1,
	.seed = 20240607,
};

static bool
pages_init(struct bench_heap *heap, size_t blocks)
{
	heap->pages = bench_map(blocks * sizeof(*heap->pages));
	return heap->pages != NULL;
}

/* 60 of 100 blocks are at most 64 bytes long, 90 at most 192. */
static size_t
size_of_next(uint64_t *random)
{
	size_t dice = bench_random_below(random, 100);

	if (dice < 60)
		return 16 + bench_random_below(random, 49);
	if (dice < 90)
		return 64 + bench_random_below(random, 129);
	if (dice < 99)
		return 192 + bench_random_below(random, 449);
	return 640 + bench_random_below(random, 3457);
}

/*
 * Zeros, small numbers, text or floating point, as programs keep them: none
 * of it looks like an address. The first SKIP words stay zero, for the links.
 */
static void
fill(void *block, size_t size, size_t skip, uint64_t *random)
{
	uint64_t *words = block, bits = bench_random(random);
	size_t i, count = size / sizeof(*words);

	memset(block, 0, size);
	for (i = skip; i < count; i++) {
		bits = bits * 6364136223846793005ull + 1442695040888963407ull;
		switch (bits >> 62) {
		case 0:
			break;
		case 1:
			words[i] = bits >> 40 & 0xffff;
			break;
		case 2:
			words[i] = (bits >> 4 & 0x0f0f0f0f0f0f0f0full) |
			    0x6060606060606060ull;
			break;
		default:
			words[i] = bits >> 12 | 0x3ff0000000000000ull;
			break;
		}
	}
}

static struct table *
table_for(struct maker *maker, size_t i)
{
	const struct bench_plan *plan = maker->plan;

	if (plan->lost_every > 0 &&
	    i % plan->lost_every == plan->lost_every / 2)
		return &maker->tables->lost;
	if (plan->freed != BENCH_FREED_NONE &&
	    bench_random(&maker->random) >> 63)
		return &maker->tables->freed;
	return &maker->tables->kept;
}

static void
make_blocks(struct maker *maker)
{
	size_t links = maker->plan->edges > 2 ? maker->plan->edges : 2;
	size_t i, size, least = links * sizeof(void *);
	struct table *table;
	void *block;

	if (least < maker->plan->min_size)
		least = maker->plan->min_size;
	for (i = maker->first; i < maker->end && !maker->failed; i++) {
		size = size_of_next(&maker->random);
		if (size < least)
			size = least;
		block = malloc(size);
		maker->failed = block == NULL;
		if (maker->failed)
			break;
		fill(block, size, links, &maker->random);
		table = table_for(maker, i);
		table->at[table->count++] = block;
	}
}

static void *
make_in_thread(void *argument)
{
	struct maker *maker = argument;

	make_blocks(maker);
	scrub_stack();
	sem_post(&maker->made);
	sem_wait(maker->may_end);
	return NULL;
}

/*
 * Each part in a separate thread, and so in a separate arena; one after the
 * other.
 */
static bool
make_in_threads(struct maker *makers, size_t count)
{
	sem_t may_end;
	size_t i, begun = 0;
	bool good = true;

	sem_init(&may_end, 0, 0);
	for (i = 0; i < count && good; i++) {
		makers[i].may_end = &may_end;
		sem_init(&makers[i].made, 0, 0);
		if (pthread_create(&makers[i].thread, NULL, make_in_thread,
			&makers[i]) != 0)
			break;
		begun++;
		sem_wait(&makers[i].made);
		good = !makers[i].failed;
	}
	for (i = 0; i < begun; i++)
		sem_post(&may_end);
	for (i = 0; i < begun; i++)
		pthread_join(makers[i].thread, NULL);
	return good && begun == count;
}

static bool
make_all(const struct bench_plan *plan, struct tables *tables)
{
	struct maker makers[ARENAS_MAX];
	size_t i, count = plan->arenas;

	if (count < 1 || count > ARENAS_MAX)
		return false;
	for (i = 0; i < count; i++)
		makers[i] = (struct maker) { .plan = plan,
			.tables = tables,
			.random = plan->seed + i,
			.first = plan->blocks * i / count,
			.end = plan->blocks * (i + 1) / count };
	if (count > 1)
		return make_in_threads(makers, count);
	make_blocks(makers);
	return !makers->failed;
}

/* SEEN are page numbers of late, so that few are noted twice. */
static void
note_page(uint64_t seen[SEEN], struct bench_heap *heap, uint64_t page)
{
	if (seen[page % SEEN] == page)
		return;
	seen[page % SEEN] = page;
	heap->pages[heap->page_count++] = page;
	if (heap->low == 0 || page < heap->low)
		heap->low = page;
	if (page > heap->high)
		heap->high = page;
}

static void
measure(const struct table *table, struct bench_heap *heap)
{
	static uint64_t seen[SEEN];
	size_t i, bytes;

	heap->blocks += table->count;
	for (i = 0; i < table->count; i++) {
		bytes = malloc_usable_size(table->at[i]);
		heap->bytes += bytes;
		if (bytes < MMAPPED_FROM)
			note_page(
			    seen, heap, (uintptr_t)table->at[i] / BENCH_PAGE);
	}
}

static void
measure_all(const struct tables *tables, struct bench_heap *heap)
{
	measure(&tables->lost, heap);
	heap->lost = heap->blocks;
	heap->lost_bytes = heap->bytes;
	measure(&tables->kept, heap);
}

static void
free_all(const struct bench_plan *plan, struct table *freed, uint64_t *random)
{
	size_t i;

	if (plan->freed == BENCH_FREED_RANDOM)
		bench_table_shuffle(freed, random);
	for (i = 0; i < freed->count; i++)
		free(freed->at[i]);
}

static __attribute__((noinline)) bool
build(const struct bench_plan *plan, struct bench_heap *heap)
{
	struct tables tables = { 0 };
	uint64_t random = plan->seed ^ plan->blocks;
	bool good;

	good = bench_table_init(&tables.kept, plan->blocks + 2) &&
	    bench_table_init(&tables.lost, plan->blocks + 2) &&
	    bench_table_init(&tables.freed, plan->blocks + 2) &&
	    pages_init(heap, plan->blocks) && make_all(plan, &tables);
	if (good) {
		free_all(plan, &tables.freed, &random);
		bench_link_lost(&tables.lost);
		measure_all(&tables, heap);
		good = tables.kept.count > 0 &&
		    bench_link_kept(plan, &tables.kept, &random);
	}
	if (good) {
		if (plan->lose_all) {
			heap->lost = heap->blocks;
			heap->lost_bytes = heap->bytes;
		} else {
			root = tables.kept.at[0];
		}
	}
	bench_table_fini(&tables.kept);
	bench_table_fini(&tables.lost);
	bench_table_fini(&tables.freed);
	return good;
}

bool
bench_heap_build(const struct bench_plan *plan, struct bench_heap *heap)
{
	bool good;

	memset(heap, 0, sizeof(*heap));
	good = build(plan, heap);
	scrub_stack();
	return good;
}

/*
 * A small heap with something of everything, for a fuzzer: the main arena and
 * two more, chunks in tcaches, fastbins and bins, mmapped ones.
 *
 * The blocks are from glibc's malloc also where a sanitizer has put its own in
 * its place: that one leaves __libc_malloc() alone, and no block of the fuzzer
 * itself comes into the heap.
 */
#ifndef TESTS_SUPPORT_FUZZ_HEAP_FILL_H
#define TESTS_SUPPORT_FUZZ_HEAP_FILL_H

#include <malloc.h>
#include <pthread.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "mu/arch/cpu.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/self_snapshot.h"

#define FUZZ_RUNS 64
#define FUZZ_MAPPINGS 64
#define FUZZ_THREADS 3
#define FUZZ_MMAPPED 3
#define FUZZ_TCACHE_MAX 32 /* above any default of tcache_count */
#define FUZZ_LARGE 20000   /* mmapped */
#define FUZZ_VIEWS 20000

struct fuzz_run {
	struct mu_range range; /* mappings without a gap between them */
	char *copy;
};

struct fuzz_heap {
	struct self_snapshot self;
	struct mu_mapping mappings[FUZZ_MAPPINGS]; /* those in the copy */
	size_t num_mappings;
	struct fuzz_run runs[FUZZ_RUNS];
	size_t num_runs;
	struct mu_thread threads[FUZZ_THREADS];
	uintptr_t registers[FUZZ_THREADS];
	uintptr_t mmapped[FUZZ_MMAPPED];
	struct mu_glibc glibc;
	pthread_barrier_t ready;

	/* Of one reading: what it was told, and views of their exact size. */
	struct mu_snapshot snap;
	bool exact;
	void *views[FUZZ_VIEWS];
	size_t num_views;
};

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

/* Written, so that no optimizer drops what is allocated for its place. */
static inline uintptr_t *
fuzz_block(size_t size)
{
	char *block = __libc_malloc(size);

	require(block != NULL);
	memset(block, 0, size);
	return (uintptr_t *)block;
}

/* Chains, a cycle and what is shared by two: something to be folded. */
static inline void
fuzz_link(void)
{
	uintptr_t *blocks[6];
	size_t i;

	for (i = 0; i < 6; i++)
		blocks[i] = fuzz_block(24 + 40 * i);
	for (i = 0; i < 5; i++)
		blocks[i][i % 2] = (uintptr_t)blocks[i + 1];
	blocks[3][2] = (uintptr_t)blocks[1];
	fuzz_block(100)[3] = (uintptr_t)blocks[4] + 8;
}

static inline void
fuzz_fill(struct mu_thread *thread)
{
	uintptr_t *small[FUZZ_TCACHE_MAX + 4], *large[4], *cached[3];
	size_t i;

	thread->tp = mu_arch_tp();
	thread->sp = mu_arch_sp();
	fuzz_link();
	for (i = 0; i < 4; i++) {
		large[i] = fuzz_block(3000 + 16 * i);
		fuzz_block(40);
	}
	for (i = 0; i < FUZZ_TCACHE_MAX + 4; i++)
		small[i] = fuzz_block(56);
	for (i = 0; i < 3; i++)
		cached[i] = fuzz_block(200);
	fuzz_block(1000);
	/* What fits nowhere sorts them; what is freed later stays unsorted. */
	for (i = 0; i < 3; i++)
		__libc_free(large[i]);
	fuzz_block(9000);
	__libc_free(large[3]);
	/* The tcache gets full of them; the others go where it leaves them. */
	for (i = 0; i < FUZZ_TCACHE_MAX + 4; i++)
		__libc_free(small[i]);
	for (i = 0; i < 3; i++)
		__libc_free(cached[i]);
}

struct fuzz_job {
	struct fuzz_heap *heap;
	struct mu_thread *thread;
};

static inline void *
fuzz_thread(void *arg)
{
	const struct fuzz_job *job = arg;

	fuzz_fill(job->thread);
	pthread_barrier_wait(&job->heap->ready);
	for (;;)
		pause();
	return NULL;
}

static inline void
fuzz_populate(struct fuzz_heap *heap)
{
	static struct fuzz_job jobs[FUZZ_THREADS];
	pthread_attr_t attributes;
	pthread_t thread;
	size_t i;

	mallopt(M_MMAP_THRESHOLD, 16 << 10);
	pthread_barrier_init(&heap->ready, NULL, FUZZ_THREADS);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 << 10);
	for (i = 0; i < FUZZ_MMAPPED; i++)
		heap->mmapped[i] =
		    (uintptr_t)fuzz_block(FUZZ_LARGE + (i << 12));
	for (i = 1; i < FUZZ_THREADS; i++) {
		jobs[i] = (struct fuzz_job) { heap, &heap->threads[i] };
		require(pthread_create(
			    &thread, &attributes, fuzz_thread, &jobs[i]) == 0);
	}
	pthread_barrier_wait(&heap->ready);
	fuzz_fill(&heap->threads[0]);
	for (i = 0; i < FUZZ_THREADS; i++) {
		heap->threads[i].tid = getpid() + (pid_t)i;
		heap->threads[i].first_value = i;
		heap->threads[i].num_values = 1;
		heap->threads[i].calling = i == 0;
	}
}

#endif

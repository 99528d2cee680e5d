/*
 * A copy of a small real heap, for a fuzzer to damage: with the threads' stacks
 * and local storage and libc's data. Each run of it lies between guard pages,
 * so that reads outside of it fault.
 */
#ifndef TESTS_SUPPORT_FUZZ_FUZZ_HEAP_IMAGE_H
#define TESTS_SUPPORT_FUZZ_FUZZ_HEAP_IMAGE_H

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/subject/classify.h"
#include "mu/arch/cpu.h"
#include "mu/sys.h"
#include "tests/support/fuzz/fuzz_input.h"
#include "tests/support/heaps/self_snapshot.h"

/*
 * A small heap with something of everything, for a fuzzer: the main arena and
 * two more, chunks in tcaches, fastbins and bins, mmapped ones.
 *
 * The blocks are from glibc's malloc also where a sanitizer has put its own in
 * its place: that one leaves __libc_malloc() alone, and no block of the fuzzer
 * itself comes into the heap.
 */

#define FUZZ_RUNS 64
#define FUZZ_MAPPINGS 64
#define FUZZ_THREADS 3
#define FUZZ_MMAPPED 3
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

#define FUZZ_PAGE ((size_t)sysconf(_SC_PAGESIZE))

void fuzz_heap_make(struct fuzz_heap *heap);

/* ---- looking at it ---- */

struct fuzz_run *fuzz_run_of(struct fuzz_heap *heap, uintptr_t address);

/* The word of the copy at ADDRESS, or NULL. */
uintptr_t *fuzz_word(struct fuzz_heap *heap, uintptr_t address);

/* Are all of them memory, by what the reading was told? */
bool fuzz_is_mapped(
    const struct mu_snapshot *snap, uintptr_t address, size_t size);

const void *fuzz_view(struct mu_memory *memory, uintptr_t address, size_t size);

/* The same bytes, as of memory that is not in place. */
bool fuzz_read(struct mu_memory *memory, struct mu_range range, void *buffer);

bool fuzz_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part);

#endif

/*
 * A varied heap, and a copy of it: three arenas, chunks in tcaches, fastbins,
 * small, large and unsorted bins, mmapped chunks of which some are aligned, and
 * threads that wait.
 */
#ifndef TESTS_SUPPORT_HEAPS_HEAP_BUSY_H
#define TESTS_SUPPORT_HEAPS_HEAP_BUSY_H

#include <malloc.h>
#include <pthread.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "mu/arch/cpu.h"
#include "tests/support/heaps/heap_image.h"

#define BUSY_THREADS 2
#define BUSY_CACHED 3
#define BUSY_FAST 4
#define BUSY_BINNED 3
#define BUSY_MMAPPED 4
#define BUSY_TCACHE_MAX 32  /* above any default of tcache_count */
#define BUSY_SINGLE_SIZE 88 /* the tcache has one of these */

/* What one thread has; addresses of blocks. */
struct busy_part {
	pthread_t thread;
	uintptr_t tp;
	uintptr_t used[3];             /* neighbours, in use */
	uintptr_t cached[BUSY_CACHED]; /* in the tcache; the last is its head */
	uintptr_t single;              /* alone in its list of the tcache */
	uintptr_t fast[BUSY_FAST];     /* in a fastbin; the last is its head */
	uintptr_t
	    fill[BUSY_TCACHE_MAX];     /* of their size; the tcache has some */
	uintptr_t binned[BUSY_BINNED]; /* in bins */
};

extern struct busy {
	struct busy_part parts[1 + BUSY_THREADS]; /* the main thread first */
	uintptr_t mmapped[BUSY_MMAPPED];
	struct mu_thread threads[1 + BUSY_THREADS];
	uintptr_t registers[1 + BUSY_THREADS]; /* one of each thread */
	pthread_barrier_t ready;
	struct heap_image image;
	struct heap_reading whole; /* undamaged */
	struct mu_glibc glibc;
} busy;

/* Written so that no optimizer drops what is allocated for its place only. */
uintptr_t busy_block(size_t size);

/* For a checked fixture: in a separate process, which exists until its end. */
void busy_setup(void);

/* ---- places in the image ---- */

uintptr_t *busy_word_at(uintptr_t address);

/* The size word of the chunk that BLOCK is in. */
uintptr_t *busy_size_of(uintptr_t block);

uintptr_t chunk_of(uintptr_t block);
uintptr_t next_block(uintptr_t block);

/* A member of the malloc_state of arena INDEX. */
uintptr_t *arena_at(size_t index, size_t offset);

uintptr_t *par_at(size_t offset);
uintptr_t heap_of(size_t index);

/* A link that is kept at ADDRESS: as glibc writes it, and as it is meant. */
uintptr_t mangled(uintptr_t address, uintptr_t link);

/* ---- what comes of a damage ---- */

void expect_answer(enum mu_status status, const char *words);
void expect_refusal(const char *words);

/* Accepted, and rightly: it lists what the undamaged heap does. */
void expect_same(void);

/* Change a word, look, and put it back. */
#define WHILE(word, value, expectation)    \
	do {                               \
		uintptr_t *at_ = (word);   \
		uintptr_t old_ = *at_;     \
		*at_ = (uintptr_t)(value); \
		expectation;               \
		*at_ = old_;               \
	} while (0)

#endif

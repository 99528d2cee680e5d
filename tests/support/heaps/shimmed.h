/*
 * A program that churns its allocator's heap (victim_jemalloc), what a shim
 * between the two saw (jemalloc_shim.h), and what a back end reads of the heap
 * from outside.
 */
#ifndef TESTS_SUPPORT_HEAPS_SHIMMED_H
#define TESTS_SUPPORT_HEAPS_SHIMMED_H

#include <stdio.h>

#include "heapwalk/heaps/heap.h"
#include "lib/helpers/keeper.h"
#include "tests/support/heaps/jemalloc_shim.h"

struct shimmed {
	const struct mu_heap_ops *ops;
	const char *library; /* the allocator's file */
	bool inside; /* the program's addresses may be behind a block's begin */

	pid_t pid, child; /* as started; who rests */
	int memory;
	FILE *out;
	char path[64], version[64];
	const struct shim_table *table;
	struct mu_keeper keeper;
	struct mu_arena arena;
	struct mu_heap heap;
	struct mu_heap_member member;
	struct mu_why why;
	size_t missing, extra, differing;
};

/* Start it and wait until all its threads rest; fork_word may be NULL. */
void shimmed_start(struct shimmed *test, const char *threads,
    const char *rounds, const char *fork_word);
void shimmed_stop(struct shimmed *test);

/* Stop the program, read its heap; end the reading in any case. */
enum mu_status shimmed_read(struct shimmed *test);
void shimmed_end(struct shimmed *test);

/* Read it until it has as many blocks as the shim saw; end it afterwards. */
void shimmed_must_be_read(struct shimmed *test);

/* The blocks of the reading are those of the shim. */
void shimmed_must_agree(struct shimmed *test);

uintptr_t shimmed_word(const struct shimmed *test, uintptr_t address);
void shimmed_set(const struct shimmed *test, uintptr_t address, uintptr_t word);

struct shimmed_damage {
	uintptr_t address, change; /* bits of the word there */
};

/* Each damage in turn is refused, but not since a thread was inside. */
void shimmed_must_be_refused(
    struct shimmed *test, const struct shimmed_damage *damage, size_t count);

/*
 * Change a word of any of the ranges COUNT times, to any other of them or by
 * one bit: whatever is read of that, it ends. Then all is as it was.
 */
void shimmed_damage_any(struct shimmed *test, const struct mu_range *ranges,
    size_t num_ranges, size_t count);

#endif

/*
 * Find the places of pointers: all memory of the subject that is readable and
 * private, except the heap, our own memory and dead parts of stacks; registers;
 * and what the program registered.
 */
#ifndef HEAPWALK_ROOTS_ROOTS_H
#define HEAPWALK_ROOTS_ROOTS_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/roots/root_kinds.h"
#include "heapwalk/subject/snapshot.h"

struct mu_root {
	struct mu_range range;
	const char *view; /* the subject's bytes at range.begin */
	enum mu_root_kind kind;
	bool code;  /* pointers lie at any byte */
	bool loads; /* the same: an instruction in it loads a block's address */
};

struct mu_roots {
	struct mu_root *ranges; /* by address, no overlaps but for regions */
	size_t num_ranges;
	/* Single words: registers, kernel-held words, ignored objects. */
	uintptr_t *values;
	size_t num_values;
	size_t bytes; /* sum of the ranges */

	/*
	 * Words that also count by mu_reference_by_header(): registers of
	 * threads inside malloc, and the aligned words in FRAMES, the top of
	 * these threads' stacks.
	 */
	uintptr_t *headers;
	size_t num_headers;
	struct mu_ranges frames;
};

/*
 * Places excluded by snap->reach are no roots. MU_PARTIAL with WHY: a place
 * could not be read. All arrays come from ARENA.
 */
enum mu_status mu_roots_find(struct mu_roots *roots,
    const struct mu_snapshot *snap, const struct mu_heap *heap,
    struct mu_arena *arena, struct mu_why *why);

#endif

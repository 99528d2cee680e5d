/*
 * The table of all supported allocators, and the allocators of one subject.
 *
 * To add one, add a folder next to heapwalk/heaps/glibc/ and a row in table.c.
 */
#ifndef HEAPWALK_HEAPS_TABLE_TABLE_H
#define HEAPWALK_HEAPS_TABLE_TABLE_H

#include "heapwalk/heaps/heap.h"

#define MU_HEAPS_MAX 7 /* rows of the table */

struct mu_heaps {
	struct mu_heap_member members[MU_HEAPS_MAX];
	size_t count;
	unsigned
	    inferred_from; /* see struct mu_heap; also set by a failed one */

	/* If others are read but this one cannot be: the status; else MU_OK. */
	enum mu_status missing;
	struct mu_why missing_why;
	bool missing_libc; /* of another C library */
};

/*
 * Find the allocators of the subject: see mu_heap_ops.detect(), also for the
 * statuses.
 *
 * Runs in: original, sweeper (any).
 */
enum mu_status mu_heaps_detect(struct mu_heaps *heaps,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

/*
 * Stop the allocators, the last row first, and release them. HEAPS may be
 * empty, and may be thawed twice. If the freeze fails, everything is released.
 *
 * Runs in: original.
 */
enum mu_status mu_heaps_freeze(struct mu_heaps *heaps,
    const struct mu_heap_freeze *freeze, struct mu_why *why);
void mu_heaps_thaw(struct mu_heaps *heaps);

/* List the blocks of all allocators: see mu_heap_ops.list(). */
enum mu_status mu_heaps_list(struct mu_heap *heap,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why);

/* The supported releases of libc, by row: see mu_heap_ops. */
bool mu_heaps_releases(size_t row, struct mu_heap_releases *releases);

/* Find the row that includes MAJOR.MINOR; false if it is not supported. */
bool mu_heaps_supports(
    unsigned major, unsigned minor, struct mu_heap_releases *releases);

/* The file in SNAP of an unsupported allocator; or NULL. */
const char *mu_heaps_other_file(const struct mu_snapshot *snap);

/* True if an allocator makes this system call with no lock held. */
bool mu_heaps_call(long call);

#endif

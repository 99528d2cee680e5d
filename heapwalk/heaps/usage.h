/*
 * How the heap's memory is used, and why the program has so much of it.
 *
 * All figures are bytes. Usable bytes are those that malloc_usable_size() gives
 * for a block; other figures are whole chunks with headers. Nothing is counted
 * twice:
 *
 * an arena:   span == live + bins + tcache + top + overhead
 * in all:     spans + mmapped ==
 *	    live_reachable + live_unreachable + free_held + overhead
 *
 * Free memory may never have been touched, or may have been returned to the
 * kernel page by page (malloc_trim()), so resident memory can be less.
 */
#ifndef HEAPWALK_HEAPS_USAGE_H
#define HEAPWALK_HEAPS_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mu_arena_usage {
	uintptr_t address; /* address of its struct malloc_state */

	/*
	 * Its stretches of heap, from the header of each to its end: malloc's
	 * system_mem, without what others took by sbrk() inside the main arena.
	 */
	size_t span;

	size_t live;     /* usable bytes of blocks in use */
	size_t bins;     /* free chunks in fastbins, unsorted, small, large */
	size_t fastbins; /* the part of BINS in fastbins */
	size_t tcache;   /* free chunks in threads' caches */
	size_t top;      /* the free chunk at its end */

	/* Headers, fenceposts, structs of tcaches and of other arenas. */
	size_t overhead;
};

struct mu_heap_usage {
	struct mu_arena_usage *arenas; /* the main one first */
	size_t num_arenas;

	/*
	 * Usable bytes of blocks in arenas and of mmapped ones. Together they
	 * are the bytes of all blocks, including heaps that the program
	 * provides. All count as reachable until mu_usage_complete().
	 */
	size_t live_reachable, live_unreachable;

	size_t free_held; /* bins, tcache, top; mmapped_free */
	size_t overhead;  /* in arenas and in mmapped memory */

	/* Whole pages of chunks that have their own mapping. */
	size_t mmapped;
	size_t mmapped_live; /* usable; included in live_... */
	size_t mmapped_free; /* kept in a tcache (2.43 and later) */

	/*
	 * Whole pages of MMAPPED in chunks that malloc's counters do not
	 * confirm. They are never reported as leaks.
	 */
	size_t mmapped_unproven;

	/*
	 * After memory that other code took by sbrk(): may be malloc's; part of
	 * no other figure.
	 */
	size_t unproven;
};

/* What one pass over the heap can say; growth would take two. */
enum mu_verdict {
	MU_VERDICT_NONE,          /* little memory, or nothing stands out */
	MU_VERDICT_LEAK,          /* some blocks are unreachable */
	MU_VERDICT_IN_USE,        /* reachable blocks */
	MU_VERDICT_FRAGMENTATION, /* free memory between blocks in use */
	MU_VERDICT_SLACK,         /* free memory at the ends of heaps */
	MU_VERDICT_COUNT
};

/*
 * A share of one part in so many decides. If every other block was freed, half
 * is free.
 */
#define MU_USAGE_IN_USE 2 /* live_reachable */
#define MU_USAGE_FREE 3   /* free, of either kind */

/*
 * With less memory than this the verdict is NONE or LEAK: an arena starts with
 * a top of 132 KiB.
 */
#define MU_USAGE_LARGE ((size_t)1 << 20)

/* LEAK_BYTES of the live bytes are unreachable. */
void mu_usage_complete(struct mu_heap_usage *usage, size_t leak_bytes);

/* All memory that malloc has from the kernel, including UNPROVEN. */
size_t mu_usage_held(const struct mu_heap_usage *usage);

/* The two parts of free_held: the tops, and the rest. */
size_t mu_usage_top(const struct mu_heap_usage *usage);
size_t mu_usage_scattered(const struct mu_heap_usage *usage);

/* LEAK if anything is unreachable; otherwise as
 * mu_usage_verdict_without_leaks(). */
enum mu_verdict mu_usage_verdict(const struct mu_heap_usage *usage);

/* The first of IN_USE, FRAGMENTATION and SLACK that has its share; or NONE. */
enum mu_verdict mu_usage_verdict_without_leaks(
    const struct mu_heap_usage *usage);

/* "leak", "in_use", ...; "none". */
const char *mu_verdict_name(enum mu_verdict verdict);

#endif

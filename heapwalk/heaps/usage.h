/*
 * The use of the heap's memory, and a verdict: why does the program have so
 * much of it?
 *
 * All figures are bytes. Usable ones are the bytes that malloc_usable_size()
 * tells of a block; the others are whole chunks, headers and all. Nothing is
 * counted twice:
 *
 *	an arena:   span == live + bins + tcache + top + overhead
 *	in all:     spans + mmapped ==
 *		    live_reachable + live_unreachable + free_held + overhead
 *
 * What is free may never have been touched, or have been given back to the
 * kernel within its page (malloc_trim()): resident memory can be less.
 */
#ifndef HEAPWALK_HEAPS_USAGE_H
#define HEAPWALK_HEAPS_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mu_arena_usage {
	uintptr_t address; /* of its struct malloc_state */

	/*
	 * Its stretches of heap, from the header of each to its end: what
	 * malloc calls system_mem, but for what others took by sbrk() in the
	 * midst of the main arena's.
	 */
	size_t span;

	size_t live;     /* usable, of blocks that the program has */
	size_t bins;     /* free chunks in fastbins, unsorted, small, large */
	size_t fastbins; /* of BINS: in fastbins */
	size_t tcache;   /* free chunks that threads keep for themselves */
	size_t top;      /* the free chunk at its end */

	/* Headers, fenceposts, structs of tcaches and of other arenas. */
	size_t overhead;
};

struct mu_heap_usage {
	struct mu_arena_usage *arenas; /* the main one first */
	size_t num_arenas;

	/*
	 * Usable bytes of blocks in arenas and of mmapped ones, together those
	 * of all blocks, those of heaps that the program brings included; all
	 * of them count as reachable until mu_usage_complete().
	 */
	size_t live_reachable, live_unreachable;

	size_t free_held; /* bins, tcache, top; mmapped_free */
	size_t overhead;  /* in arenas and in mmapped memory */

	/* Memory of chunks that have a mapping of their own: whole pages. */
	size_t mmapped;
	size_t mmapped_live; /* usable; live above, too */
	size_t mmapped_free; /* kept by a tcache (2.43 and later) */

	/*
	 * Whole pages of MMAPPED: malloc's counters do not say which of these
	 * are blocks. They are never lost.
	 */
	size_t mmapped_unproven;

	/*
	 * Behind memory that other code took by sbrk(): may be malloc's, and is
	 * in no other figure.
	 */
	size_t unproven;
};

/*
 * What one look at the heap can say. Growth it cannot: that takes two looks.
 */
enum mu_verdict {
	MU_VERDICT_NONE,          /* little memory, or nothing stands out */
	MU_VERDICT_LEAK,          /* some blocks are lost */
	MU_VERDICT_IN_USE,        /* blocks that the program still has */
	MU_VERDICT_FRAGMENTATION, /* free, in between what is in use */
	MU_VERDICT_SLACK,         /* free at the ends of heaps */
	MU_VERDICT_COUNT
};

/*
 * One part in so many of all that is held is enough. Where every other block
 * was freed, half is free.
 */
#define MU_USAGE_IN_USE 2 /* live_reachable */
#define MU_USAGE_FREE 3   /* free, of either kind */

/* Less than this is NONE or LEAK: an arena begins with 132 KiB of top. */
#define MU_USAGE_LARGE ((size_t)1 << 20)

/* LEAK_BYTES of what is live are unreachable. */
void mu_usage_complete(struct mu_heap_usage *usage, size_t leak_bytes);

/* All that malloc has from the kernel, UNPROVEN included. */
size_t mu_usage_held(const struct mu_heap_usage *usage);

/* Of free_held: the tops, and what is not at the end of a heap. */
size_t mu_usage_top(const struct mu_heap_usage *usage);
size_t mu_usage_scattered(const struct mu_heap_usage *usage);

/* LEAK if anything is lost; else what mu_usage_judge_rest() says. */
enum mu_verdict mu_usage_judge(const struct mu_heap_usage *usage);

/* The first that has its share, of IN_USE, FRAGMENTATION and SLACK; or NONE. */
enum mu_verdict mu_usage_judge_rest(const struct mu_heap_usage *usage);

/* "leak", "in_use", ...; "none". */
const char *mu_verdict_name(enum mu_verdict verdict);

#endif

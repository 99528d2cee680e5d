/*
 * A heap back end: how to read one allocator's live blocks from a snapshot.
 *
 * Only the back end knows the format of its allocator's memory. Other code uses
 * the blocks (heapwalk/heaps/blocks.h) and calls the functions of the table:
 * see heapwalk/heaps/table/table.h.
 */
#ifndef HEAPWALK_HEAPS_HEAP_H
#define HEAPWALK_HEAPS_HEAP_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/usage.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/* Results of the back ends. */
struct mu_heap {
	struct mu_blocks blocks; /* sealed by each back end */

	/*
	 * Memory of the allocators (arena and heap headers, free chunks, every
	 * stretch of heap as a whole), which is neither a root nor a block. By
	 * address, no overlaps. Includes the ranges of spans and of listed
	 * blocks.
	 */
	struct mu_ranges owned;

	/* Called before reachability is known: see mu_usage_complete(). */
	struct mu_heap_usage usage;

	/*
	 * Heap memory that could not be proven to be malloc's, and is therefore
	 * a root and never a leak. Not part of owned.
	 */
	size_t unproven_bytes;

	/*
	 * The answer is MU_PARTIAL for a reason that will pass: a thread was
	 * stopped between changing a counter of the allocator and the memory
	 * that it counts.
	 */
	bool transient;

	/*
	 * If the release of libc is not known: the release 2.x with whose
	 * layout the heap was read; every check held. 0 if it is known.
	 */
	unsigned inferred_from;

	/*
	 * Addresses in the subject of ints that are 0 unless a thread is inside
	 * the allocator and holds a lock. Valid as long as the list of blocks.
	 */
	const uintptr_t *locks;
	size_t num_locks;
};

/* An allocator of the subject, as found by its back end. */
struct mu_heap_member {
	const struct mu_heap_ops *ops;
	void *state;            /* for the back end */
	unsigned inferred_from; /* see struct mu_heap */

	/* Those of the subject that were found so far. */
	const struct mu_heap_member *others;
	size_t num_others;
};

/* What a word inside a block is, in the view of that block's allocator. */
enum mu_heap_link {
	MU_HEAP_NO_LINK,
	MU_HEAP_LINK,    /* may be an old link of a free list */
	MU_HEAP_OLD_LINK /* it is one, unless blocks->last_words */
};

struct mu_heap_freeze {
	struct mu_arena *arena;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	uint64_t patience_ns; /* longest time without a release of a lock */
	bool single; /* the program has one thread, which does not wait for us:
			locks may not stop it */
};

/* Releases 2.FIRST to 2.LAST have the same layout. */
struct mu_heap_releases {
	unsigned first, last;
};

/* All functions but detect() and list() may be NULL. */
struct mu_heap_ops {
	const char *name; /* "glibc" */
	bool libc;        /* of another C library: there is no glibc */

	/*
	 * Supported releases of libc: row ROW of the back end's table. Returns
	 * false after the last row.
	 */
	bool (*releases)(size_t row, struct mu_heap_releases *releases);

	/*
	 * The file in SNAP of an allocator that would replace this one; or
	 * NULL.
	 */
	const char *(*other_file)(const struct mu_snapshot *snap);

	/* True if the allocator that was found is in the file of MAPPING. */
	bool (*has_file)(const struct mu_heap_member *member,
	    const struct mu_mapping *mapping);

	/*
	 * Find the allocator. Needs of SNAP: mappings, memory, release, the
	 * program's registered heaps. MEMBER, zero except for its ops and the
	 * others, receives
	 * a state that lives as long as ARENA, or none if the subject does not
	 * have this allocator. MU_ERR_FOREIGN_ALLOCATOR: another allocator is
	 * in its place. Any other status: it cannot be read, and WHY says why.
	 *
	 * Runs in: original, sweeper (any).
	 */
	enum mu_status (*detect)(struct mu_heap_member *member,
	    const struct mu_snapshot *snap, struct mu_arena *arena,
	    struct mu_why *why);

	/*
	 * Stop the allocator: nothing in its heap changes until thaw(), which
	 * is called in any case. MU_ERR_BUSY: not possible before the deadline.
	 *
	 * Runs in: original.
	 */
	enum mu_status (*freeze)(struct mu_heap_member *member,
	    const struct mu_heap_freeze *freeze, struct mu_why *why);
	void (*thaw)(struct mu_heap_member *member);

	/*
	 * Add every live block, fill the other members of HEAP, and seal
	 * heap->blocks. MU_PARTIAL with WHY: the answer is valid but
	 * incomplete. MU_ERR_HEAP_INCONSISTENT: a reading a moment later may
	 * succeed. Any other status: this heap cannot be read, and WHY says
	 * why.
	 */
	enum mu_status (*list)(struct mu_heap *heap,
	    const struct mu_heap_member *member, const struct mu_snapshot *snap,
	    struct mu_arena *arena, struct mu_why *why);

	/*
	 * Classify VALUE, a word at ADDRESS inside a block that points into TO,
	 * a block of this allocator: a reference of the program, or something
	 * else. Never called for words of roots.
	 */
	enum mu_heap_link (*link)(const struct mu_heap_member *member,
	    const struct mu_blocks *blocks, uintptr_t address, uintptr_t value,
	    const struct mu_block *to);

	/*
	 * True if WORD, which is no reference of the program, is how the
	 * allocator itself refers to the block TO. Called for words in what
	 * inside() adds.
	 */
	bool (*refers_by_header)(const struct mu_blocks *blocks, uintptr_t word,
	    struct mu_block *to);

	/*
	 * Add to FRAMES the stack ranges in which threads inside the allocator
	 * keep their pointers; HEAP was listed. Returns false if memory is
	 * exhausted.
	 */
	bool (*inside)(struct mu_ranges *frames, const struct mu_heap *heap,
	    const struct mu_snapshot *snap);

	/* True if the allocator makes this system call with no lock held. */
	bool (*calls)(long call);

	/*
	 * Write the innermost frames of the allocation of BLOCK, at most MAX,
	 * and return their number. Only for a subject that is the caller's own
	 * image.
	 */
	size_t (*backtrace)(const struct mu_heap_member *member,
	    const struct mu_block *block, uintptr_t *frames, size_t max);
};

#endif

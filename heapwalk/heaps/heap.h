/*
 * A heap back end: how one allocator's live blocks are read from a snapshot.
 *
 * Only a back end knows the format of its allocator's memory. The others see
 * its blocks (heapwalk/heaps/blocks.h) and call its functions: see
 * heapwalk/heaps/table/table.h.
 */
#ifndef HEAPWALK_HEAPS_HEAP_H
#define HEAPWALK_HEAPS_HEAP_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/usage.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/* What the back ends found besides the blocks. */
struct mu_heap {
	struct mu_blocks blocks; /* sealed by each back end */

	/*
	 * Memory of the allocators (arena and heap headers, free chunks,
	 * the whole of every heap stretch): neither a root nor a block. By
	 * address, no overlaps. Ranges of spans are among them; listed blocks
	 * are too.
	 */
	struct mu_ranges owned;

	/* Before it is known what is reachable: see mu_usage_complete(). */
	struct mu_heap_usage usage;

	/*
	 * Heap memory that could not be proven to be malloc's and is
	 * therefore a root and never a leak. Not among owned.
	 */
	size_t unproven_bytes;

	/*
	 * MU_PARTIAL for a reason that passes by itself: a thread was caught
	 * between a counter of the allocator and the memory that it counts.
	 */
	bool transient;

	/*
	 * The release of libc is not known, and its heap was read as that of
	 * 2.x; every check held. 0: it is known.
	 */
	unsigned inferred_from;

	/*
	 * Where the subject has ints that are 0 unless a thread is inside the
	 * allocator, as far as it got; as long as what was listed.
	 */
	const uintptr_t *locks;
	size_t num_locks;
};

/* An allocator of the subject, as its back end has found it. */
struct mu_heap_member {
	const struct mu_heap_ops *ops;
	void *state;            /* the back end's own */
	unsigned inferred_from; /* see struct mu_heap */
};

/* How a word inside a block looks to the allocator that the block is of. */
enum mu_heap_link {
	MU_HEAP_NO_LINK,
	MU_HEAP_LINK,    /* may be an old link of a free list */
	MU_HEAP_OLD_LINK /* is one, unless blocks->last_words */
};

struct mu_heap_freeze {
	struct mu_arena *arena;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool single; /* the program has one thread, which does not wait for us:
			locks may not stop it */
};

/* 2.FIRST to 2.LAST have one layout. */
struct mu_heap_releases {
	unsigned first, last;
};

/* Functions may be NULL, but for detect() and list(). */
struct mu_heap_ops {
	const char *name; /* "glibc" */

	/*
	 * Releases of libc whose heaps are known: the rows of the back end's
	 * table, by number. False: there are no more.
	 */
	bool (*releases)(size_t row, struct mu_heap_releases *releases);

	/* The file in SNAP of an allocator that takes its place; or NULL. */
	const char *(*other_file)(const struct mu_snapshot *snap);

	/*
	 * Find the allocator; needs of SNAP: mappings, memory, release, heaps
	 * of the program. MEMBER, all zero but for its ops, gets a state, which
	 * lives as long as ARENA; or none, if the subject has no such
	 * allocator. MU_ERR_FOREIGN_ALLOCATOR: it has another one instead. Any
	 * other status: it cannot be read, and WHY says why.
	 *
	 * Runs in: original, sweeper (any).
	 */
	enum mu_status (*detect)(struct mu_heap_member *member,
	    const struct mu_snapshot *snap, struct mu_arena *arena,
	    struct mu_why *why);

	/*
	 * In the subject itself: nothing of the allocator changes until thaw(),
	 * which is called in any case. MU_ERR_BUSY: not before the deadline.
	 *
	 * Runs in: original.
	 */
	enum mu_status (*freeze)(struct mu_heap_member *member,
	    const struct mu_heap_freeze *freeze, struct mu_why *why);
	void (*thaw)(struct mu_heap_member *member);

	/*
	 * Add every live block, and what else HEAP has room for, and seal
	 * heap->blocks. MU_PARTIAL with WHY set: the answer stands but
	 * something is missing. MU_ERR_HEAP_INCONSISTENT: a reading of the same
	 * process a moment later may succeed. Any other status: this heap
	 * cannot be read, and WHY says what would have been wrong.
	 */
	enum mu_status (*list)(struct mu_heap *heap,
	    const struct mu_heap_member *member, const struct mu_snapshot *snap,
	    struct mu_arena *arena, struct mu_why *why);

	/*
	 * What VALUE, a word at ADDRESS inside a block that points into TO, a
	 * block of this allocator, may be but a reference of the program's.
	 * Never asked for words of roots.
	 */
	enum mu_heap_link (*link)(const struct mu_heap_member *member,
	    const struct mu_blocks *blocks, uintptr_t address, uintptr_t value,
	    const struct mu_block *to);

	/*
	 * Does the allocator itself refer to the block TO by WORD, which points
	 * to none as the program knows it? Asked of what inside() adds.
	 */
	bool (*refers_by_header)(const struct mu_blocks *blocks, uintptr_t word,
	    struct mu_block *to);

	/*
	 * Add to FRAMES where threads inside the allocator have what they work
	 * at; HEAP was listed. False: no memory.
	 */
	bool (*inside)(struct mu_ranges *frames, const struct mu_heap *heap,
	    const struct mu_snapshot *snap);

	/* Is this a system call that the allocator makes with no lock held? */
	bool (*calls)(long call);

	/*
	 * The innermost frames of the allocation of BLOCK, at most MAX: how
	 * many. Only where the subject is the caller's own image.
	 */
	size_t (*backtrace)(const struct mu_heap_member *member,
	    const struct mu_block *block, uintptr_t *frames, size_t max);
};

#endif

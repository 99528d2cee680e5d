/*
 * A heap back end: how one allocator's live blocks are read from a snapshot.
 */
#ifndef HEAPWALK_HEAPS_HEAP_H
#define HEAPWALK_HEAPS_HEAP_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/usage.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/* What a back end found besides the blocks. */
struct mu_heap {
	struct mu_blocks blocks; /* sealed */

	/*
	 * Memory of the allocator's own (arena and heap headers, free chunks,
	 * the whole of every heap stretch): neither a root nor a block. By
	 * address, no overlaps. Ranges of spans are among them; listed blocks
	 * are too.
	 */
	struct mu_range *owned;
	size_t num_owned;

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

struct mu_heap_ops {
	const char *name; /* "glibc" */

	/*
	 * List every live block. MU_PARTIAL with WHY set: the answer stands
	 * but something is missing. MU_ERR_HEAP_INCONSISTENT: a reading of
	 * the same process a moment later may succeed. Any other status: this
	 * heap cannot be read, and WHY says what would have been wrong.
	 */
	enum mu_status (*list)(struct mu_heap *heap,
	    const struct mu_snapshot *snap, struct mu_arena *arena,
	    struct mu_why *why);
};

extern const struct mu_heap_ops mu_heap_glibc;

#endif

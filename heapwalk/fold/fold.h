/*
 * Make entries of unreachable blocks: a lost block, and what was lost with it.
 *
 * Nodes are the unmarked ones of a graph (heapwalk/graph/lost.h). Strongly
 * connected components collapse; a component that no other points at is an
 * owner and is one entry, at its lowest address. Its referenced_count and
 * referenced_size are the other blocks that can be reached from it, each
 * counted once an owner; what two owners share counts in full for both (but
 * for ownerless cycles, which are one entry here).
 *
 * Iterative; runs on a small stack. Linear, but for owners above components
 * that lead to several shared ones (heapwalk/fold/retained.c): these take more,
 * until the deadline.
 */
#ifndef HEAPWALK_FOLD_FOLD_H
#define HEAPWALK_FOLD_FOLD_H

#include "heapwalk/fold/packed.h"
#include "heapwalk/graph/graph.h"

struct mu_leaks {
	struct mu_packed entries;     /* total_size falling, ties by address; at
					 most the limit */
	size_t num_leaks, leak_bytes; /* every unreachable block */

	/* What the limit cut; each block counts once. */
	size_t num_total; /* entries, those in ENTRIES included */
	size_t unreported_count, unreported_bytes; /* blocks of no entry */

	/*
	 * Of all entries' first blocks whose stack is not known, the limit
	 * notwithstanding: usable bytes of the smallest and the largest. 0, 0:
	 * there is none.
	 */
	size_t unrecorded_least, unrecorded_most;

	size_t sample_bytes; /* the recorder's; 0: it took every stack */
};

/* Bytes that folding takes at most, if all blocks of GRAPH are lost. */
size_t mu_fold_most(const struct mu_graph *graph);

/* The first block of an entry, of SIZE usable bytes, has no known stack. */
void mu_leaks_add_unrecorded(struct mu_leaks *leaks, size_t size);

/*
 * Fold, make one of those that were allocated by the same stack, if there is
 * blocks->recorder to say so (heapwalk/fold/similar.h), take the LIMIT heaviest
 * entries, with CONTENTS or without. The entries are from GRAPH's arena; GRAPH
 * is of no use for anything else then.
 *
 * num_leaks and leak_bytes are right whatever happens. MU_PARTIAL with WHY:
 * DEADLINE_NS came first, and the referenced figures of some entries are lower
 * bounds, or there are no entries at all; or memory was short, and each entry
 * is a single block (heapwalk/fold/fold_alone.h).
 */
enum mu_status mu_fold(struct mu_leaks *leaks, struct mu_graph *graph,
    size_t limit, bool contents, uint64_t deadline_ns, struct mu_why *why);

#endif

/*
 * Make entries of unreachable blocks: a lost block, and what was lost with it.
 *
 * Nodes are the unmarked ones of a graph (heapwalk/graph/lost.h). Strongly
 * connected components collapse; a component that no other points at is an
 * owner and becomes one entry, at its lowest address. Its referenced_count and
 * referenced_size are the other blocks that can be reached from it, each
 * counted once per owner; what two owners share counts in full for both. A
 * cycle without an owner is one entry.
 *
 * Iterative; runs on a small stack. Linear, except for owners above components
 * that lead to several shared ones (heapwalk/fold/retained.c): these take
 * longer, until the deadline, if they may be among those that are WANTED, or if
 * owners with equal stacks are added up.
 */
#ifndef HEAPWALK_FOLD_FOLD_H
#define HEAPWALK_FOLD_FOLD_H

#include "heapwalk/fold/packed.h"
#include "heapwalk/graph/graph.h"

struct mu_leaks {
	struct mu_packed entries; /* by total_size descending, then by address;
				     at most the limit */
	size_t num_leaks, leak_bytes; /* every unreachable block */

	/* What the limit cut; each block counts once. */
	size_t num_total; /* all entries, with those in ENTRIES */
	size_t unreported_count, unreported_bytes; /* blocks in no entry */

	/*
	 * Least and greatest usable size of the first blocks of entries whose
	 * stack is not known, whatever the limit; 0, 0 if there are none.
	 */
	size_t unrecorded_least, unrecorded_most;

	size_t sample_bytes; /* of the recorder; 0: every stack was recorded */

	/* The groups follow the entries; all of them, or the largest. */
	struct mu_groups_info groups;
};

/* What the answer should have. */
struct mu_fold_wanted {
	size_t limit;    /* entries, and groups */
	bool contents;   /* of both */
	enum mu_by by;   /* how to group */
	bool list;       /* all entries, even if there are groups */
	const int *file; /* as in struct mu_packed */
	const struct mu_snapshot *snap; /* for groups; may be NULL: see
					   mu_groups_find() */
};

/* Most bytes that folding takes if all blocks of GRAPH are lost. */
size_t mu_fold_most(const struct mu_graph *graph);

/*
 * Note that the first block of an entry, of SIZE usable bytes, has no known
 * stack.
 */
void mu_leaks_add_unrecorded(struct mu_leaks *leaks, size_t size);

/*
 * Fold; merge entries with the same allocation stack, if there is a
 * blocks->recorder (heapwalk/fold/similar.h); take the largest entries that are
 * WANTED. Entries are allocated from GRAPH's arena; GRAPH cannot be used
 * otherwise afterwards. There are groups only if there was enough memory and
 * time: see leaks->groups.by.
 *
 * num_leaks and leak_bytes are always right. MU_PARTIAL with WHY: DEADLINE_NS
 * came first, and the referenced figures of some entries are lower bounds, or
 * there are no entries at all; or memory was short, and each entry is a single
 * block (heapwalk/fold/fold_alone.h).
 */
enum mu_status mu_fold(struct mu_leaks *leaks, struct mu_graph *graph,
    const struct mu_fold_wanted *wanted, uint64_t deadline_ns,
    struct mu_why *why);

#endif

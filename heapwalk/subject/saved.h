/*
 * What is known of a subject that is a saved look: its heap and its roots were
 * found when it was saved, and its memory has no more than their pointers.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_SAVED_H
#define HEAPWALK_SUBJECT_SAVED_H

#include "heapwalk/subject/snapshot.h"

struct mu_blocks;     /* heapwalk/heaps/blocks.h: not sealed */
struct mu_heap_usage; /* heapwalk/heaps/usage.h: not completed */
struct mu_roots;      /* heapwalk/roots/roots.h */
struct mu_owners;     /* heapwalk/refer/locate.h */
struct mu_recorder;   /* heapwalk/recorded/recorded.h */

struct mu_saved {
	bool contents; /* the memory has all words of the blocks */
	const struct mu_blocks *blocks;
	const struct mu_heap_usage *usage;
	const struct mu_roots *roots;
	const struct mu_owners *owners;
	const struct mu_recorder *recorder; /* NULL: there was none */
};

/* True for a saved look that has no more than pointers. */
static inline bool
mu_snapshot_lacks_numbers(const struct mu_snapshot *snap)
{
	return snap->saved != NULL && !snap->saved->contents;
}

#endif
